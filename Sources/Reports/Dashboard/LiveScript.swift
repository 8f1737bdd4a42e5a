import Reports

/// Replaces the parts of the page as they arrive. Hover, hidden series, scroll positions, selections and fields are kept.
enum LiveScript {
    static let text: HTML = """
        "use strict";(function(){
        var line=document.getElementById("link"),off={},held=null,waiting={},failures=0,over=false;
        var tip=document.createElement("div");tip.id="tip";tip.hidden=true;document.body.appendChild(tip);
        function say(text,how){line.textContent=text;line.className=how}
        function two(n){return n<10?"0"+n:""+n}
        function clock(ns){var s=Math.floor(ns/1e9);return s>=3600?Math.floor(s/3600)+":"+two(Math.floor(s/60)%60)+":"+two(s%60):
        Math.floor(s/60)+":"+two(s%60)}
        function figure(e){var f=e&&e.closest?e.closest("figure"):null;return f?f.id:""}
        function plotOf(id){var f=document.getElementById(id);return f?f.querySelector("svg.plot"):null}
        function places(d){var at=d.at?d.at.split(";").map(Number):null,width=+d.width,end=+d.end,
        values=d.values.split("|").map(function(v){return v.split(";")});
        return {names:d.names.split("|"),values:values,count:at?at.length:values[0].length,width:width,end:end,
        start:function(i){return at?at[i]:i*width},
        near:function(ns){if(!at)return Math.floor(ns/width);var best=0;
        at.forEach(function(a,i){if(Math.abs(a-ns)<Math.abs(at[best]-ns))best=i});return best}}}
        function show(){var plot=held&&plotOf(held.id);if(!plot){tip.hidden=true;return}
        var p=places(plot.dataset),i=Math.max(0,Math.min(p.count-1,held.share===null?held.place:p.near(held.share*p.end)));
        held.place=i;var x=(p.start(i)+p.width/2)/p.end*100,cross=plot.querySelector(".cross");
        cross.setAttribute("x1",x+"%");cross.setAttribute("x2",x+"%");cross.setAttribute("visibility","visible");
        var lines=[clock(p.start(i))];
        p.names.forEach(function(n,k){var v=p.values[k][i];if(v)lines.push(n+"  "+v)});
        tip.textContent=lines.join("\\n");tip.hidden=false;var box=plot.getBoundingClientRect();
        var left=box.left+scrollX+box.width*x/100+12;
        if(left+tip.offsetWidth>scrollX+document.documentElement.clientWidth-8)left-=tip.offsetWidth+24;
        tip.style.left=Math.max(4,left)+"px";tip.style.top=box.top+scrollY+8+"px"}
        function hide(){var plot=held&&plotOf(held.id);if(plot)plot.querySelector(".cross").setAttribute("visibility","hidden");
        held=null;tip.hidden=true}
        function plotAt(e){var p=e.target.closest?e.target.closest("svg.plot"):null;
        return p&&p.dataset.values!==undefined&&figure(p)?p:null}
        document.addEventListener("pointermove",function(e){var plot=plotAt(e);if(!plot){if(held&&held.share!==null)hide();return}
        var b=plot.getBoundingClientRect();if(held&&held.id!==figure(plot))hide();
        held={id:figure(plot),share:(e.clientX-b.left)/b.width,place:0};show()});
        document.addEventListener("keydown",function(e){var plot=plotAt(e);if(!plot)return;if(e.key==="Escape")return hide();
        var step={ArrowLeft:-1,ArrowRight:1}[e.key];if(!step)return;e.preventDefault();
        var place=held&&held.id===figure(plot)?held.place+step:places(plot.dataset).count-1;
        held={id:figure(plot),share:null,place:place};show()});
        document.addEventListener("click",function(e){var b=e.target.closest?e.target.closest(".legend button"):null;if(!b)return;
        var key=figure(b)+" "+b.dataset.series;if(off[key])delete off[key];else off[key]=true;dress(b.closest("figure"))});
        function dress(root){root.querySelectorAll(".legend button").forEach(function(b){var hidden=!!off[figure(b)+" "+b.dataset.series];
        b.setAttribute("aria-pressed",String(!hidden));
        b.closest("figure").querySelectorAll(".curves [data-series=\\""+b.dataset.series+"\\"]").forEach(function(p){
        p.style.display=hidden?"none":""})})}
        function put(id,html){var e=document.getElementById(id);if(!e)return;
        var chosen=getSelection();if(chosen&&!chosen.isCollapsed&&e.contains(chosen.anchorNode)){waiting[id]=html;return}
        delete waiting[id];
        var active=document.activeElement,at=active&&e.contains(active)?[figure(active),active.dataset.series]:null;
        var across=[].map.call(e.querySelectorAll(".scroll"),function(s){return s.scrollLeft});
        var key=active&&e.contains(active)?active.dataset.key:null,
        kept=[].map.call(e.querySelectorAll("[name]"),function(x){return[x.name,x.selectedIndex,x.value]});
        e.innerHTML=html;dress(e);
        kept.forEach(function(k){var x=e.querySelector("[name="+k[0]+"]");if(!x)return;
        if(k[1]>=0)x.selectedIndex=Math.min(k[1],x.options.length-1);else x.value=k[2]});
        if(key){var same=e.querySelector("[data-key="+key+"]");if(same)same.focus({preventScroll:true})}
        e.querySelectorAll(".scroll").forEach(function(s,i){s.scrollLeft=across[i]||0});
        if(at&&at[0]){var f=document.getElementById(at[0]),
        next=f&&(at[1]?f.querySelector(".legend button[data-series=\\""+at[1]+"\\"]"):f.querySelector("svg.plot"));
        if(next)next.focus({preventScroll:true})}
        if(held)show()}
        document.addEventListener("selectionchange",function(){var chosen=getSelection();if(chosen&&!chosen.isCollapsed)return;
        Object.keys(waiting).forEach(function(id){put(id,waiting[id])})});
        var events=new EventSource("events");
        events.addEventListener("open",function(){failures=0;say("live, updated every second","on")});
        events.addEventListener("part",function(e){var cut=e.data.indexOf("\\n");put(e.data.slice(0,cut),e.data.slice(cut+1))});
        events.addEventListener("frame",function(e){document.title=e.data});
        events.addEventListener("finished",function(e){over=true;events.close();say("run finished: "+e.data,"over")});
        events.addEventListener("error",function(){if(over)return;failures+=1;
        if(events.readyState===EventSource.CLOSED)return say("too many open dashboards; reload to try again","off");
        if(failures<10)return say("connection lost, reconnecting","off");
        events.close();say("the run has ended; reload to look for another","off")});
        })();
        """
}
