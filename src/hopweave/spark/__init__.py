"""A graph in PostgreSQL built with Spark: `pip install "hopweave[spark,postgres]"`."""

from hopweave.spark.dataframe import build_graph, with_vectors

__all__ = ["build_graph", "with_vectors"]
