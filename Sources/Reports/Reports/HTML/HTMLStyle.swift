/// The page's looks. System fonts, figures of one width, one accent a meaning; every color has a sign next to
/// it.
package enum HTMLStyle {
    package static let text: HTML = """
        :root{color-scheme:light dark;--bg:#fff;--panel:#f6f6f4;--ink:#1b1d20;--soft:#5c636b;--rule:#dcddd9;
        --grid:#ebebe8;--good:#00704c;--bad:#b3261e;--warn:#8a5700;--plain:#7d8791;
        --i1:#0b62a4;--i2:#c85a06;--i3:#00805a;--i4:#8a489c;--i5:#4698c9;--i6:#8b7a00;--i7:#6b7280;
        --band:#c85a06;--bandq:.1;--edge:rgba(27,29,32,.28);--opening:.45}
        @media (prefers-color-scheme:dark){:root{--bg:#131518;--panel:#1b1e22;--ink:#e8eaec;--soft:#9ba3ab;
        --rule:#31363c;--grid:#24282d;--good:#4cc38a;--bad:#ff7b72;--warn:#e0ae3f;--plain:#8b949e;
        --i1:#6cb2ee;--i2:#f29c52;--i3:#4fc79c;--i4:#c99be0;--i5:#9cd5f5;--i6:#d6c552;--i7:#9ba3ab;
        --band:#f29c52;--bandq:.13;--edge:rgba(232,234,236,.3);--opening:.85}}
        *{box-sizing:border-box}
        html{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;
        font-variant-numeric:tabular-nums;-webkit-text-size-adjust:100%}
        body{margin:0;background:var(--bg);color:var(--ink)}
        main{max-width:70rem;margin:0 auto;padding:2.5rem clamp(1rem,4vw,2.5rem) 4rem}
        h1{font-size:1rem;font-weight:600;margin:0;color:var(--soft)}
        h2{font-size:1.3rem;font-weight:650;letter-spacing:-.01em;margin:0}
        h3{font-size:1rem;font-weight:650;margin:0}
        p{margin:.35rem 0}a{color:var(--i1)}
        code,pre,.mono{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
        section{margin-top:3.25rem}section>.lead{break-after:avoid;color:var(--soft);margin:.2rem 0 1.1rem;max-width:46rem}
        :focus-visible{outline:2px solid var(--i1);outline-offset:3px;border-radius:3px}
        .verdict{display:flex;gap:1.1rem;align-items:center;margin:1rem 0 .4rem}
        .verdict .word{font-size:clamp(2rem,5vw,2.9rem);line-height:1.1;font-weight:700;letter-spacing:-.025em}
        .verdict svg{flex:none}.verdict.good{color:var(--good)}.verdict.bad{color:var(--bad)}
        .verdict.warn{color:var(--warn)}
        .about{color:var(--soft);max-width:46rem}
        .reasons{margin:.8rem 0 0;padding:0;list-style:none}
        .reasons li{padding:.3rem 0 .3rem 1.5rem;position:relative}
        .reasons li::before{content:"✗";position:absolute;left:.2rem;color:var(--bad);font-weight:700}
        .facts{display:flex;flex-wrap:wrap;gap:.9rem 2.2rem;margin:1.5rem 0 0;padding:1rem 0;
        border-top:1px solid var(--rule);border-bottom:1px solid var(--rule)}
        .facts dt,.stats dt{font-size:.78rem;color:var(--soft)}.facts dd,.stats dd{margin:0;font-weight:600}
        .headline{display:flex;flex-wrap:wrap;gap:.9rem 2.4rem;margin:1.3rem 0 .4rem}
        .headline div{min-width:0;max-width:100%}.headline dt{font-size:.78rem;color:var(--soft)}
        .headline dd{margin:0;font-size:1.35rem;font-weight:650;letter-spacing:-.015em;line-height:1.3;overflow-wrap:anywhere}
        .headline small{display:block;font-size:.82rem;font-weight:400;letter-spacing:0;color:var(--soft)}
        nav{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;margin-top:1rem;font-size:.87rem}
        nav a{color:var(--soft);text-decoration:none;padding:.2rem 0}nav a:hover{color:var(--ink);text-decoration:underline}
        .cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(15.5rem,1fr));gap:.9rem;margin-top:1.1rem}
        .card{background:var(--panel);border-radius:8px;padding:.95rem 1.05rem 1rem;border-top:3px solid var(--good);
        break-inside:avoid;min-width:0}
        .card.bad{border-top-color:var(--bad)}.card.warn{border-top-color:var(--warn)}.card.na{border-top-color:var(--plain)}
        .card h3{font-size:.88rem;display:flex;gap:.45rem;overflow-wrap:anywhere}
        .card .big{font-size:1.65rem;font-weight:650;letter-spacing:-.02em;line-height:1.25;margin:.3rem 0 0;
        overflow-wrap:anywhere}
        .card .of{color:var(--soft);font-size:.87rem;margin:0}.card small{display:block;color:var(--soft);font-size:.82rem}
        .card .budget{margin:.65rem 0 .15rem}.meter{display:block}
        .meter .track{fill:var(--rule)}.meter .fill{fill:var(--good)}.bad .meter .fill{fill:var(--bad)}
        .warn .meter .fill{fill:var(--warn)}
        .sign{font-weight:700}.good .sign,.sign.good{color:var(--good)}.bad .sign,.sign.bad{color:var(--bad)}
        .warn .sign,.sign.warn{color:var(--warn)}.na .sign,.sign.na{color:var(--plain)}
        .rules{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:.55rem 2rem;
        margin:.5rem 0 1.2rem;font-size:.9rem}.rules div{break-inside:avoid}
        .rules dt{font-weight:600;white-space:nowrap}.rules dd{margin:0 0 0 1.25rem;color:var(--soft);line-height:1.4}
        ul.flow-notes,.bands-legend,.lanes-legend ul{list-style:none;margin:.3rem 0;padding:0;font-size:.85rem;color:var(--soft)}
        .bands-legend li,.lanes-legend li{margin:.15rem 0}.bands-legend{margin-bottom:1rem}
        .bands-legend b{font-weight:600;color:var(--ink)}
        .lanes-legend ul{display:flex;flex-wrap:wrap;gap:.1rem 1.2rem}.lanes-legend p{margin:.5rem 0 0;font-size:.85rem}
        svg.key{display:inline-block;vertical-align:baseline}svg.key rect{stroke:var(--edge)}
        .pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1.4rem 3rem}
        figure{margin:0 0 1.5rem;break-inside:avoid;min-width:0}
        figcaption{display:flex;flex-wrap:wrap;align-items:baseline;gap:.1rem .7rem;margin-bottom:.45rem}
        figcaption .t{font-weight:600}figcaption .u{color:var(--soft);font-size:.85rem}
        .legend{display:flex;flex-wrap:wrap;gap:0 .2rem;font-size:.84rem;margin-left:auto}
        .legend button{all:unset;cursor:pointer;color:var(--soft);display:inline-flex;align-items:center;gap:.35rem;
        padding:.1rem .4rem;border-radius:4px}
        .legend button:focus-visible{outline:2px solid var(--i1)}.legend button:hover{color:var(--ink)}
        .legend button[aria-pressed=false]{opacity:.4;text-decoration:line-through}
        .legend b{font-weight:600;color:var(--ink)}
        .limit-key{color:var(--bad);display:inline-flex;align-items:center;gap:.35rem;padding:.1rem .4rem}
        svg{display:block;overflow:visible}svg svg{display:inline}
        svg.curves,svg.clip{overflow:hidden}
        .plot{touch-action:pan-y;margin-top:1.05rem}.scroll+figure{margin-top:2rem}
        text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink);
        font-variant-numeric:tabular-nums}
        .label,.soft,.note{fill:var(--soft)}.label,.note{font-size:11px}
        .label{paint-order:stroke;stroke:var(--bg);stroke-width:3px;stroke-linejoin:round}
        .count{font-size:15px;font-weight:650}.count .soft{font-weight:400;font-size:14px}
        .count.bad{fill:var(--bad)}.count.warn{fill:var(--warn)}.count.none{fill:var(--soft);font-weight:400}
        .base{stroke:var(--rule)}.grid,.tick{stroke:var(--grid)}
        .limit{stroke:var(--bad);stroke-dasharray:5 4}.step{stroke:var(--warn);stroke-width:1.5}
        .s{fill:none;stroke:currentColor;stroke-width:1.6;vector-effect:non-scaling-stroke}
        .s.dashed{stroke-dasharray:5 3}.f{fill:currentColor;fill-opacity:.72}
        .i1{color:var(--i1)}.i2{color:var(--i2)}.i3{color:var(--i3)}.i4{color:var(--i4)}.i5{color:var(--i5)}
        .i6{color:var(--i6)}.i7{color:var(--i7)}
        .range{stroke:currentColor;stroke-width:6;stroke-opacity:.32;stroke-linecap:round}
        #runs{min-width:54rem}#objective-table,#share-table,#loss-table{min-width:40rem}
        .band{fill:var(--band)}.band.gap{fill:var(--plain)}.band.link{fill:var(--i1)}
        .bands-fault{opacity:var(--bandq)}.bands-gap{opacity:.3}.bands-link{opacity:.08}
        .band-name{font-size:10px}
        .flow{fill:var(--plain);fill-opacity:.2}.flow.good{fill:var(--good);fill-opacity:.17}
        .flow.bad{fill:var(--bad);fill-opacity:.3}.flow.warn{fill:var(--warn);fill-opacity:.24}
        .block{fill:var(--plain)}.block.good{fill:var(--good)}.block.bad{fill:var(--bad)}.block.warn{fill:var(--warn)}
        .block.none{fill:var(--rule)}.block.origin{fill:var(--ink)}
        .cross{stroke:var(--soft);stroke-width:1;pointer-events:none}
        #tip{position:absolute;pointer-events:none;background:var(--ink);color:var(--bg);border-radius:6px;
        padding:.45rem .6rem;font-size:.8rem;line-height:1.45;white-space:pre;z-index:9;max-width:19rem}
        #tip[hidden]{display:none}
        .strip{padding:.2rem 0;border-bottom:1px solid var(--grid)}.strip rect{fill:var(--band)}
        .lane{display:grid;grid-template-columns:4.6rem minmax(0,1fr);gap:.8rem;align-items:center}
        .strip>span,.lane>span{font-size:.82rem;color:var(--soft);overflow-wrap:anywhere;line-height:1.3}
        .strip b{color:var(--ink);font-weight:600}
        .strip.links .even{fill:var(--i5);fill-opacity:.25}.strip.links .odd{fill:var(--i5);fill-opacity:.45}
        .strip.links .gap{fill:var(--plain);fill-opacity:.55}.strip.links text{fill:var(--ink)}
        .lanes rect.on{fill:var(--i1);fill-opacity:.55}.lanes rect.opening{fill:var(--i5);fill-opacity:var(--opening)}
        .lanes rect.off{fill:var(--plain);fill-opacity:.35}.lanes rect.gone{fill:var(--bad);fill-opacity:.08;stroke:var(--bad);stroke-dasharray:4 3}
        .lanes rect.bad{fill:var(--band);fill-opacity:.35}
        .lanes rect.queue,.a-queue{fill:var(--i7);fill-opacity:.5}.lanes rect.upload,.a-upload{fill:var(--i1)}
        .lanes rect.limited,.a-limited{fill:var(--i2)}.lanes rect.backoff,.a-backoff{fill:var(--i6)}
        .a-connecting{fill:var(--i5)}.a-server{fill:var(--i3);fill-opacity:.55}.a-results{fill:var(--i4)}
        .a-preparing{fill:var(--i7)}.a-offline{fill:var(--plain);fill-opacity:.35}.a-closed{fill:var(--bad);fill-opacity:.35}
        .sign.rise{color:var(--i2)}.lane.slow span{color:var(--ink)}.why{max-width:52rem}svg.spent{display:block;width:100%;height:1.4rem;border-radius:3px}.next{margin:.3rem 0}.next code{overflow-wrap:anywhere;user-select:all}
        .mark{fill:none;stroke-width:1.7}.mark.bad{stroke:var(--bad)}.mark.warn{stroke:var(--i2)}
        .mark.good{fill:var(--i3);stroke:none}
        .phone{margin:1.6rem 0;scroll-margin-top:1rem}.lanes{break-inside:avoid}.phone p{color:var(--soft);font-size:.9rem;margin:.1rem 0 .5rem}
        .stats{display:flex;flex-wrap:wrap;gap:.3rem 1.7rem;margin:.5rem 0 .8rem}
        .metric{margin:2rem 0;scroll-margin-top:1rem}h4{font-size:.92rem;font-weight:650;margin:0}
        .quiet{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(18rem,100%),1fr));gap:1.1rem 2rem}
        .quiet .metric{margin:0;break-inside:avoid;min-width:0}.quiet .stats{margin:.1rem 0 .2rem}.quiet-title{margin:2rem 0 .7rem}
        .metric>h3+p{break-after:avoid}.metric .stats{break-after:avoid}.metric>p{color:var(--soft);font-size:.9rem;margin:.05rem 0}
        .pairs{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:1rem 2rem}
        .two{display:grid;grid-template-columns:minmax(0,1.9fr) minmax(0,1fr);gap:1rem 2rem}
        table{border-collapse:collapse;width:100%;font-size:.9rem}
        th{font-weight:600;color:var(--soft);font-size:.8rem;text-align:left;vertical-align:bottom}
        th,td{padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--rule)}
        td{vertical-align:top}th,td.n,td:first-child{white-space:nowrap}.n{text-align:right}.n+td:not(.n),.n+th:not(.n){padding-left:1.4rem}th:last-child,td:last-child{padding-right:0}
        td small,th small{color:var(--soft);font-size:.92em}
        .sortable thead [role=button]{cursor:pointer}.sortable thead [role=button]:hover{color:var(--ink);text-decoration:underline}
        [aria-sort=ascending] [role=button]::after{content:" ▲"}[aria-sort=descending] [role=button]::after{content:" ▼"}
        .scroll{overflow-x:auto;background:linear-gradient(to right,var(--bg) 40%,transparent) left/3rem 100% no-repeat local,
        linear-gradient(to left,var(--bg) 40%,transparent) right/3rem 100% no-repeat local,
        linear-gradient(to right,var(--edge),transparent) left/.9rem 100% no-repeat scroll,
        linear-gradient(to left,var(--edge),transparent) right/.9rem 100% no-repeat scroll}
        .find{margin:0 0 .7rem}.found{font-size:.87rem;color:var(--soft);margin-left:.6rem}
        #broken,#finding-table,#error-table,#fault-table{min-width:36rem}#latency-table{min-width:46rem}
        #broken td:last-child,#finding-table td:last-child,#error-table td:last-child{min-width:14rem}
        [id$=loss-table] td:nth-child(2),#runs-table td{white-space:nowrap}#runs-table{min-width:64rem}h2+.pair{margin-top:1rem}
        #latency-table td:first-child{white-space:normal}.scroll+h3,.scroll+details,dl+h3,p+h3{margin-top:1.5rem}
        h2+h3{margin-top:1rem}h2+.scroll{margin-top:.8rem}
        input[type=search]{font:inherit;color:inherit;background:var(--panel);border:1px solid var(--rule);border-radius:6px;
        padding:.35rem .6rem;width:min(22rem,100%)}
        pre.story{white-space:pre-wrap;overflow-wrap:anywhere}pre mark{color:var(--bad);background:none;font-weight:600}
        pre{background:var(--panel);border-radius:8px;padding:.9rem 1rem;overflow-x:auto;margin:.6rem 0;line-height:1.5}
        summary{cursor:pointer;font-weight:600;padding:.3rem 0}details.fold{margin-top:1.1rem;border-top:1px solid var(--grid)}
        .fold>summary h2{display:inline;font-size:1rem;margin:0}.fold>section{margin-top:.6rem}
        .callout{border-left:3px solid var(--warn);padding:.1rem 0 .1rem .9rem;margin:.8rem 0}
        .callout.bad{border-left-color:var(--bad)}
        @media (max-width:44rem){.band-name,.links .clip{display:none}main{padding-top:1.5rem}.two,.pairs{grid-template-columns:minmax(0,1fr)}
        .legend{margin-left:-.4rem;width:100%}.lanes text.label:nth-of-type(2n){display:none}
        .facts{gap:.8rem 1.5rem}section{margin-top:2.6rem}}
        @media print{:root{color-scheme:light;--bg:#fff;--panel:#f6f6f4;--ink:#1b1d20;--soft:#4d545b;--rule:#d2d3cf;
        --grid:#e6e6e2;--good:#00704c;--bad:#b3261e;--warn:#8a5700;--i1:#0b62a4;--i2:#c85a06;--i3:#00805a;--i4:#8a489c;
        --i5:#4698c9;--i6:#8b7a00;--i7:#6b7280}html{font-size:11px}main{max-width:none;padding:0}
        nav,.find,#tip,details:not([open]){display:none}section{margin-top:2rem}h2,h3,h4,summary{break-after:avoid}
        .legend button{padding:0}tr,.card{break-inside:avoid}thead{display:table-header-group}
        .stats,.facts,.headline,.metric,.phone,.pair,section>.lead{break-inside:avoid}.legend{gap:0 .8rem}
        text{font-size:9px}.label,.note,.band-name{font-size:8px}.count{font-size:11px}.count .soft{font-size:10.5px}
        *{-webkit-print-color-adjust:exact;print-color-adjust:exact}.scroll{overflow:visible;background:none}table{min-width:0 !important}
        pre{white-space:pre-wrap;overflow-wrap:anywhere}}
        @page{margin:14mm}
        """
}
