"""Makes text and outputs from students safe to display.

clean_html.py   HTML without scripts, forms, positioning, or anything that would be fetched
formulas.py     Markdown, with formulas as MathML
highlight.py    code in colours
outputs.py      outputs of cells that came out of a sandbox
pictures.py     which pictures a browser can show
"""
