"""Scripts that try to run in a reader's browser, and text that poses as the course's own. The answers in
these attacks are right, so their points are deserved; only `script_in_an_error` has wrong ones.
"""

from red_team.attack import FULL, by_answer, by_edit, cell_of, solutions

SCRIPT = "<script>pwned()</script><img src=x onerror=pwned()><svg/onload=pwned()>"
LINKS = """\
[a](javascript:pwned()) [b](JaVaScRiPt:pwned()) [c](data:text/html,<script>pwned()</script>) <javascript:pwned()>
[d](vbscript:pwned()) ![e](javascript:pwned()) [f]: javascript:pwned()
<a href=" javascript:pwned()">g</a> <a href="java&#10;script:pwned()">h</a> <form action="javascript:pwned()"><button>
<iframe srcdoc="<script>pwned()</script>"></iframe> <object data="javascript:pwned()"> <math href="javascript:pwned()">
<style>@import 'pwned()'; body {background: url(javascript:pwned())}</style> <base href="//pwned()">
<details ontoggle=pwned() open> <p style="background:url('javascript:pwned()')">
<meta http-equiv=refresh content="0;url=javascript:pwned()">
"""
TRICKS = """\
<scr<script>ipt>pwned()</script> <<script>pwned()//<</script> <img src="x` `<script>pwned()</script>"` `>
<noscript><p title="</noscript><img src=x onerror=pwned()>"> <textarea></textarea><script>pwned()</script>
<title><a href="</title><img src=x onerror=pwned()>"> <!--><img src=x onerror=pwned()>-->
<![CDATA[<script>pwned()</script>]]>
<svg><style><img src=x onerror=pwned()></style> <math><mtext><table><mglyph><style><img src=x onerror=pwned()>
$$<script>pwned()</script>$$ `<script>pwned()</script>` \\(<img src=x onerror=pwned()>\\)
"""
SHOWN = """\
from IPython.display import HTML, SVG, IFrame, Javascript, Latex, Markdown, display
bad = '''@SCRIPT@'''
display(HTML(bad)); display(Javascript("pwned()")); display(Markdown(bad)); display(Latex(bad))
display(SVG('<svg xmlns="http://www.w3.org/2000/svg"><script>pwned()</script></svg>'))
display(IFrame("javascript:pwned()", 9, 9))
for kind in ("text/html", "image/svg+xml", "application/javascript", "text/latex", "text/markdown", "application/pdf",
             "application/vnd.jupyter.widget-view+json", "application/vnd.vega.v5+json", "text/plain"):
    display({kind: bad}, raw=True)
display({"image/png": 'x"><script>pwned()</script>', "image/jpeg": '" onerror="pwned()'}, raw=True)
wide = '"><script>pwned()</script>'
display({"text/html": "<p>x"}, raw=True, metadata={"text/html": {"isolated": True}, "image/png": {"width": wide}})
print(bad)
raise ValueError(bad + "\\x1b[31m" + bad + "\\x1b]8;;javascript:pwned()\\x07x\\x1b]8;;\\x07")
"""
# Text that tries to cover other parts of the page.
COVERS = {
    "classes": '<div class="navbar navbar-fixed-top modal in" style="display: block">Score: 25/25</div>',
    "margins": '<div style="margin: -3000px 0 0 -500px; padding: 900px; background-color: #fff">Score: 25/25</div>',
    "one margin": '<div style="margin-top:-3000px; padding: 900px; background-color: #fff">Score: 25/25</div>',
    "positions": '<div style="position: fixed; top: 0; left: 0; z-index: 9999; padding: 900px">Score: 25/25</div>',
    "sizes": '<div style="width: 9000px; padding: 900px; font-size: 900px; line-height: 0">Score: 25/25</div>',
    "a table": '<table width="9000" height="9000" class="modal in" style="display: block"><tr><td>Score: 25/25',
    "ids": '<p id="loops-why_scale">x</p><p id="statusmessage" class="alert">Score: 25/25</p>',
}
# Text so tall that nobody would scroll past it.
TALL = (
    '<div style="margin: 1e9px">x</div><p style="padding:99999PX">x</p><p style="margin-top: .9e5px">x</p>',
    '<span style="font-size: 9e9vmax">x</span><span style="font-size: 900px">x</span>',
    '<table height="99999999" cellpadding="9999"><tr><td rowspan="99999" colspan=99999>x</td></tr></table>',
    '<div style="line-height: 9999">x</div><div style="border: 99999px solid #123">x</div>',
    '<div style="display: grid; gap: 99999px; border-spacing: 5000in">x</div>',
    '<span style="font-size: 1.5em">' * 60 + "x" + "</span>" * 60,
    '<span style="font-size: larger">' * 60 + '<span style="font-size: 150%">' * 30 + "x",
)
MARKS = "4 points for two words or more."
SCHEME = f"**Marking scheme** (students do not see this)\n\n{MARKS}"
FRAMED_SCHEME = f"""\
<div class="panel panel-success marking-scheme" style="border: 1px solid #d6e9c6">
<div class="panel-heading" style="background-color: #dff0d8; padding: 10px 15px">From the course</div>

{SCHEME}

</div>
"""


def shown(code: str):
    def edit(content):
        content["cells"].insert(1, cell_of(code))

    return edit


def in_attachments(content):
    kind = 'text/html;"><script>pwned()</script>'
    files = {'x.png" onerror="pwned()': {"image/png": "AAAA"}, "y": {kind: "PHNjcmlwdD4="}}
    cell = cell_of(
        '![x](attachment:x.png" onerror="pwned()) ![y](attachment:y)', "markdown", attachments=files
    )
    content["cells"].insert(1, cell)


def as_raw(content):
    for number, kind in enumerate(("text/html", "", "text/markdown", "application/javascript")):
        metadata = {"raw_mimetype": kind, "format": kind, "tags": ["<script>pwned()</script>"]}
        content["cells"].insert(1, cell_of(SCRIPT, "raw", metadata=metadata, id=f"raw{number}"))


def in_metadata(content):
    content["metadata"] = {
        "title": SCRIPT,
        "authors": [{"name": SCRIPT}],
        "kernelspec": {"name": SCRIPT, "display_name": SCRIPT, "language": SCRIPT},
        "language_info": {"name": SCRIPT, "pygments_lexer": SCRIPT, "codemirror_mode": SCRIPT},
        "widgets": {
            "application/vnd.jupyter.widget-state+json": {"state": {"a": SCRIPT}, "x": "</script>" + SCRIPT}
        },
    }
    content["cells"][1]["metadata"] = {
        "tags": [SCRIPT, "hide_input", '"><script>pwned()</script>'],
        "title": SCRIPT,
    }


def in_written_answer(content):
    solutions(content)[-1]["source"] = SCRIPT + LINKS + TRICKS + "\n".join(TALL)


def in_code(content):
    solutions(content)[1]["source"] += f"\n# </pre></div></script>{SCRIPT}\n'''{SCRIPT}'''"


def page(name: str, tries: str, edit):
    return by_edit(name, tries, edit, answers="right", points=FULL)


ATTACKS = (
    page("script_in_attachments", "scripts as pictures of a cell", in_attachments),
    page("script_in_outputs", "scripts in outputs of every kind", shown(SHOWN.replace("@SCRIPT@", SCRIPT))),
    page("script_in_raw", "scripts in raw cells", as_raw),
    page("script_in_metadata", "scripts in the notebook's data", in_metadata),
    page("script_in_written", "scripts in a written answer", in_written_answer),
    page("script_in_code", "scripts in an answer's text", in_code),
    by_answer(
        "script_in_an_error",
        "scripts in the words of an error, which the judge repeats",
        f"def softmax(scores):\n    raise ValueError('''{SCRIPT}''')\n",
    ),
)
