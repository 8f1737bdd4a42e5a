import Reports

/// The script that sends the operator's commands. It shows the controls only if the address of the page has the token.
enum ControlScript {
    static let text: HTML = """
        "use strict";(function(){
        var token=new URLSearchParams(location.search).get("control"),state=document.getElementById("control-state");
        if(!token)return;document.body.classList.add("may-control");
        function show(text,kind){state.textContent=text;state.className=kind}
        function send(path){show("sent","");fetch("control/"+path,{method:"POST",headers:{"X-Control-Token":token}})
        .then(function(r){return r.json().then(function(j){show(r.ok?j.done:j.error,r.ok?"done":"refused")})})
        .catch(function(){show("the run does not answer","refused")})}
        function value(name){return document.querySelector("#control [name="+name+"]").value}
        function path(b){var what=b.dataset.control;
        if(what==="phones")return"phones?by="+b.dataset.sign+value("count")+"&group="+encodeURIComponent(value("group"));
        if(what!=="fault")return what;
        var chosen=document.querySelector("#control [name=fault]").selectedOptions[0];
        return chosen.dataset.offline?"fault?offline="+chosen.dataset.offline:"fault?id="+encodeURIComponent(chosen.value)}
        document.addEventListener("click",function(e){var b=e.target.closest?e.target.closest("[data-control]"):null;
        if(b&&(!b.dataset.confirm||confirm(b.dataset.confirm)))send(path(b))});
        })();
        """
}
