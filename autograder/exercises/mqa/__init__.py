"""Multi-query and grouped-query attention: query heads that share keys and values."""
LESSON = "05_multi_query_attention"
