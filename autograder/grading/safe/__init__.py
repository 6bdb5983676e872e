"""Makes text and outputs from students safe to display.

clean_html.py   HTML without scripts, forms, positioning, or anything that would be fetched
formulas.py     Markdown, with formulas as MathML
highlight.py    code with syntax highlighting
outputs.py      cell outputs that came out of a sandbox
pictures.py     which pictures a browser can show
"""
