"""x"""

ALONE = {}
NAMED = {}
