"""The colours of all pictures. They are from the palette of Okabe and Ito, which colour-blind readers can
tell apart.
"""

from matplotlib.colors import LinearSegmentedColormap

BLUE, ORANGE, GREEN, VERMILLION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, GREY, INK, PALE = "#CC79A7", "#56B4E9", "#6B7280", "#1F2937", "#F3F4F6"

# One colour for each head: pale for what belongs to it, dark for its lines and bars.
HEADS = ("#CFE6F5", "#FBE3B5", "#C9EBDD", "#F4D9E7")
HEADS_DARK = (BLUE, ORANGE, GREEN, PURPLE)

# From white to dark blue: darker for larger numbers, in colour and on a grey printer.
SEQUENTIAL = LinearSegmentedColormap.from_list("byhand", ["#FFFFFF", "#CFE6F5", SKY, BLUE, "#003D61"])
# For numbers of both signs: orange below zero, blue above.
SIGNED = LinearSegmentedColormap.from_list("byhand-signed", ["#B85000", "#F3B27A", "white", "#8CC4E6", BLUE])
