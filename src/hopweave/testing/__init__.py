"""Tests that an implementation of a hopweave interface must pass: `pip install "hopweave[testing]"`."""
