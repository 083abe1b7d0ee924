"""The recipes that come with hopweave, one YAML file each; `hopweave.recipe.load_recipe` reads them."""

DEFAULT_RECIPE = "multihop"
"""The recipe of searches that name none: in Python, on the command line, in Haystack and in LlamaIndex."""
