/// The page's script for pointer and keyboard. All its information is also available without it.
///
/// What sorts a table is a `span` with the role of a button: Chromium does not paint a `button` in the header of a table that it
/// repeats on the next printed page.
enum HTMLScript {
    static let text: HTML = """
        "use strict";(function(){
        var tip=document.createElement("div");tip.id="tip";tip.hidden=true;tip.setAttribute("role","status");
        document.body.appendChild(tip);
        function two(n){return n<10?"0"+n:""+n}
        function clock(ns){var s=Math.floor(ns/1e9);return s>=3600?Math.floor(s/3600)+":"+two(Math.floor(s/60)%60)+":"+two(s%60):
        Math.floor(s/60)+":"+two(s%60)}
        document.querySelectorAll("svg.plot[data-values]").forEach(function(plot){
        var d=plot.dataset,end=+d.end,width=+d.width,names=d.names.split("|"),at=d.at?d.at.split(";").map(Number):null,
        values=d.values.split("|").map(function(v){return v.split(";")}),cross=plot.querySelector(".cross"),
        count=values[0].length,place=-1;
        function start(i){return at?at[i]:i*width}
        function show(i){place=Math.max(0,Math.min(count-1,i));
        var x=(start(place)+width/2)/end*100;cross.setAttribute("x1",x+"%");cross.setAttribute("x2",x+"%");cross.setAttribute("visibility","visible");
        var lines=[clock(start(place))];names.forEach(function(n,k){var v=values[k][place];if(v)lines.push(n+"  "+v)});
        tip.textContent=lines.join("\\n");tip.hidden=false;var box=plot.getBoundingClientRect();
        var left=box.left+scrollX+box.width*x/100+12;
        if(left+tip.offsetWidth>scrollX+document.documentElement.clientWidth-8)left-=tip.offsetWidth+24;
        tip.style.left=Math.max(4,left)+"px";tip.style.top=box.top+scrollY+8+"px"}
        function hide(){place=-1;cross.setAttribute("visibility","hidden");tip.hidden=true}
        function near(ns){if(!at)return Math.floor(ns/width);var best=0;
        at.forEach(function(a,i){if(Math.abs(a-ns)<Math.abs(at[best]-ns))best=i});return best}
        plot.addEventListener("pointermove",function(e){var b=plot.getBoundingClientRect();
        show(near((e.clientX-b.left)/b.width*end))});
        plot.addEventListener("pointerleave",hide);plot.addEventListener("blur",hide);
        plot.addEventListener("keydown",function(e){if(e.key==="Escape")return hide();
        var step={ArrowLeft:-1,ArrowRight:1}[e.key];if(!step)return;e.preventDefault();show(place+step)})});
        document.querySelectorAll(".legend button").forEach(function(b){b.addEventListener("click",function(){
        var on=b.getAttribute("aria-pressed")!=="true";b.setAttribute("aria-pressed",on);
        b.closest("figure").querySelectorAll(".curves [data-series=\\""+b.dataset.series+"\\"]").forEach(function(p){
        p.style.display=on?"":"none"})})});
        document.querySelectorAll("input[data-find]").forEach(function(input){input.parentElement.hidden=false;
        var told=input.parentElement.querySelector(".found");
        input.addEventListener("input",function(){var word=input.value.trim().toLowerCase(),hits=0,rows=[],left=0;
        document.querySelectorAll(input.dataset.find).forEach(function(r){
        var hit=(" "+r.textContent.toLowerCase().replace(/[\\s,]+/g," ")+" ").indexOf(/^phone \\d+$/.test(word)?" "+word+" ":word)>=0;
        if(r.tagName==="TR"){r.hidden=!hit;rows.push(r);if(hit)left++}if(hit)hits++});
        if(!left)rows.forEach(function(r){r.hidden=false});
        var phone=/^phone (\\d+)$/.exec(word),place=phone&&document.getElementById("phone-"+phone[1]);told.textContent="";
        if(!word)return;
        if(place){var a=document.createElement("a");a.href="#phone-"+phone[1];a.textContent="go to "+word;told.appendChild(a)}
        else told.textContent=hits?hits+" found":"not among the errors and the phones shown; swiftwing-sim inspect has every phone"})});
        document.querySelectorAll("table.sortable").forEach(function(table){var body=table.tBodies[0],
        first=Array.prototype.slice.call(body.rows);
        Array.prototype.forEach.call(table.tHead.rows[0].cells,function(cell,i){
        var button=document.createElement("span");button.setAttribute("role","button");button.tabIndex=0;
        while(cell.firstChild)button.appendChild(cell.firstChild);cell.appendChild(button);
        button.addEventListener("keydown",function(e){if(e.key==="Enter"||e.key===" "){e.preventDefault();button.click()}});
        button.addEventListener("click",function(){var now=cell.getAttribute("aria-sort"),
        numeric=cell.className==="n",next=!now?(numeric?"descending":"ascending"):now===(numeric?"descending":"ascending")?
        (numeric?"ascending":"descending"):"";
        Array.prototype.forEach.call(table.tHead.rows[0].cells,function(c){c.removeAttribute("aria-sort")});
        var rows=first.slice();if(next){cell.setAttribute("aria-sort",next);var sign=next==="ascending"?1:-1;
        rows.sort(function(a,b){var x=a.cells[i],y=b.cells[i];
        if(x.dataset.key!==undefined&&y.dataset.key!==undefined)return sign*(x.dataset.key-y.dataset.key);
        return sign*(x.textContent<y.textContent?-1:x.textContent>y.textContent?1:0)})}
        rows.forEach(function(r){body.appendChild(r)})})})});
        addEventListener("beforeprint",function(){document.querySelectorAll("details:not(.long)").forEach(function(d){d.open=true})});
        })();
        """
}
