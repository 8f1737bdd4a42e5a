import Reports

/// The styles of the dashboard in addition to those of the report.
enum LiveStyle {
    static let text: HTML = """

        #link{position:sticky;top:0;z-index:8;margin:0;padding:.3rem clamp(1rem,4vw,2.5rem);font-size:.82rem;
        background:var(--panel);color:var(--soft);border-bottom:1px solid var(--rule)}
        #link::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;margin-right:.5rem;
        background:var(--plain)}
        #link.on::before{background:var(--good)}#link.off::before{background:none;border:2px solid var(--bad)}
        #link.over::before{background:var(--ink);border-radius:0}
        .verdict.going{color:var(--i1)}
        .verdict .clock{margin-left:auto;font-size:clamp(1.5rem,4vw,2.2rem);font-weight:600;letter-spacing:-.02em;
        color:var(--soft)}
        .going-bar{margin:1.1rem 0 0}.going-bar .track{fill:var(--rule)}.going-bar .captured{fill:var(--i5)}
        .going-bar .settled{fill:var(--i1)}
        .tiles{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.6rem,1fr));gap:.9rem 1.2rem;margin:1.2rem 0 0;
        padding:1rem 0;border-top:1px solid var(--rule);border-bottom:1px solid var(--rule)}
        .tiles dt{font-size:.78rem;color:var(--soft)}
        .tiles dd{margin:0;font-size:1.35rem;font-weight:650;letter-spacing:-.015em;line-height:1.3}
        .tiles small{font-size:.85rem;font-weight:400;color:var(--soft)}
        .tiles .bad dd{color:var(--bad)}.tiles .warn dd{color:var(--warn)}
        .lies{margin-top:1rem;overflow-wrap:anywhere}
        section{scroll-margin-top:2.5rem}section:empty{display:none}
        .control,#control-state{display:none}
        .may-control .control:not(:empty){display:flex;flex-wrap:wrap;gap:.5rem .9rem;align-items:center;
        margin:0 0 .6rem;padding:.6rem .8rem;background:var(--panel);border-radius:8px;font-size:.88rem}
        .may-control #control-state:not(:empty){display:block;margin:0 0 .8rem;font-size:.88rem;color:var(--soft)}
        .may-control #control-state.refused{color:var(--bad)}
        .control .set{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center}
        .control button,.control select,.control input{font:inherit;color:var(--ink);background:var(--bg);
        border:1px solid var(--plain);border-radius:6px;padding:.25rem .6rem;max-width:100%}
        .control input{width:4.5rem}.control button{cursor:pointer}.control button:hover{border-color:var(--ink)}
        .control .stop{color:var(--bad);border-color:var(--bad);margin-left:auto}
        @media (max-width:44rem){.tiles{grid-template-columns:repeat(auto-fill,minmax(7rem,1fr));gap:.7rem 1rem}}
        """
}
