"""The search space: parameters of a recipe, their bounds, and recipes with other values."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from hopweave.errors import RecipeError, explain
from hopweave.fusion.weighted import Weighted
from hopweave.query import Signal
from hopweave.recipe import Recipe

_BY_INTENT = "intent.weights"
_PARTS = ("fuse", "sources", "stages")
_PATH = re.compile(r"(?P<path>[^=\s]+)(?:=(?P<low>[^:]+):(?P<high>.+))?")
_BOUNDS = ("ge", "gt", "le", "lt")
_OPEN = 0.001  # distance, as a share of the range, that a search keeps from an exclusive bound


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number in a recipe: its path (`fuse.weights.graph`), its bounds and its current value."""

    path: str
    low: float
    high: float
    start: float
    whole: bool = False


def tunable(recipe: Recipe, intents: Iterable[str] = ()) -> list[Parameter]:
    """The parameters tuned by default: the weights of the fuser and all bounded floats of fuser, sources and stages.

    If the fuser goes by the intent of a question, also the weights of these `intents`. Integers, time limits and
    numbers without a lower or an upper bound are excluded.

    >>> from hopweave.recipe import load_recipe
    >>> [one.path for one in tunable(load_recipe("multihop"))][:4]
    ['fuse.weights.evidence', 'fuse.weights.graph', 'fuse.weights.text', 'fuse.weights.vector']
    """
    by_intent = (one for name in intents if goes_by_intent(recipe) for one in _intent_weights(recipe, name))
    return [*_weights(recipe), *by_intent, *_bounded(recipe)]


def goes_by_intent(recipe: Recipe) -> bool:
    """Return whether the intent of a question sets the weights of the sources.

    >>> from hopweave.recipe import load_recipe
    >>> goes_by_intent(load_recipe("knowledge")), goes_by_intent(load_recipe("multihop"))
    (True, False)
    """
    return recipe.intent is not None and isinstance(recipe.fuse, Weighted) and recipe.fuse.weights is None


def parameters(recipe: Recipe, text: str) -> list[Parameter]:
    """The parameters of a text: one, as `parameter` reads it, or for `intent.weights.NAME` those of the four signals.

    >>> from hopweave.recipe import load_recipe
    >>> [one.path for one in parameters(load_recipe("knowledge"), "intent.weights.debugging")][:2]
    ['intent.weights.debugging.embedding', 'intent.weights.debugging.graph']
    """
    name = text.strip().removeprefix(f"{_BY_INTENT}.")
    if recipe.intent and name != text.strip() and name in recipe.intent.names:
        return list(_intent_weights(recipe, name))
    return [parameter(recipe, text)]


def parameter(recipe: Recipe, text: str) -> Parameter:
    """A parameter from text: `path`, or `path=low:high` to give bounds or to narrow those of the field.

    >>> from hopweave.recipe import load_recipe
    >>> parameter(load_recipe("hybrid"), "fuse.exponent=1:6")
    Parameter(path='fuse.exponent', low=1.0, high=6.0, start=4.0, whole=False)
    """
    match = _PATH.fullmatch(text.strip())
    if not match:
        raise ValueError(f"parameter: {text!r} is not allowed: write path, or path=low:high")
    path = match["path"]
    by_intent = recipe.intent.names if recipe.intent and path.startswith(f"{_BY_INTENT}.") else ()
    intent_weights = (one for name in by_intent for one in _intent_weights(recipe, name))
    known = {one.path: one for one in (*_weights(recipe), *intent_weights, *_fields(recipe))}
    start = known[path].start if path in known else _value(recipe, path)
    whole = known[path].whole if path in known else False
    if match["low"] is None:
        if path not in known or known[path].high == float("inf") or known[path].low == float("-inf"):
            raise ValueError(f"parameter: {path} has no bounds of its own: write {path}=low:high")
        return known[path]
    low, high = _number(match["low"], text), _number(match["high"], text)
    if not low < high:
        raise ValueError(f"parameter: {text!r} is not allowed: the lower bound must be below the upper one")
    for bound in (low, high):
        with_values(recipe, {path: round(bound) if whole else bound})  # raises if the recipe does not allow it
    return Parameter(path, low, high, start, whole)


def with_values(recipe: Recipe, values: Mapping[str, float]) -> Recipe:
    """The recipe with other values at some paths, validated like a new recipe.

    >>> from hopweave.recipe import load_recipe
    >>> with_values(load_recipe("multihop"), {"sources.graph.restart": 0.3}).sources["graph"].restart
    0.3
    """
    changed: Any = _with_all_signals(recipe, values)
    for path, value in values.items():
        try:
            changed = _with(changed, path.split("."), value)
        except ValidationError as error:
            raise RecipeError(f"{path}: {value!r} is not allowed here: {explain(error)}") from error
        except (KeyError, IndexError, ValueError, TypeError) as error:
            if isinstance(error, RecipeError):
                raise
            raise RecipeError(f"parameter: the recipe {recipe.name!r} has no number at {path!r}") from error
    if not isinstance(changed, Recipe):
        raise TypeError("a path must lead into the recipe")
    return changed


def _with(whole: Any, path: list[str], value: float) -> Any:
    if not path:
        if isinstance(whole, bool) or not isinstance(whole, int | float | None):
            raise TypeError("not a number")
        return value
    head, *rest = path
    if isinstance(whole, BaseModel):
        if head not in type(whole).model_fields:
            raise KeyError(head)
        given = {name: getattr(whole, name) for name in whole.model_fields_set}
        return type(whole).model_validate({**given, head: _with(getattr(whole, head), rest, value)})
    if isinstance(whole, Mapping):
        if rest:
            return {**whole, head: _with(whole[head], rest, value)}
        return {**whole, head: _with(whole.get(head), rest, value)}  # a weight that was not given so far
    if isinstance(whole, tuple | list):
        place = range(len(whole))[int(head)]
        return (*whole[:place], _with(whole[place], rest, value), *whole[place + 1 :])
    raise KeyError(head)


def _value(recipe: Recipe, path: str) -> float:
    found: Any = recipe
    try:
        for part in path.split("."):
            if isinstance(found, BaseModel):
                found = getattr(found, part) if part in type(found).model_fields else None
            elif isinstance(found, Mapping):
                found = found[part]
            else:
                found = found[int(part)]
    except (KeyError, IndexError, ValueError, TypeError):
        found = None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise RecipeError(f"parameter: the recipe {recipe.name!r} has no number at {path!r}")
    return float(found)


def _weights(recipe: Recipe) -> Iterator[Parameter]:
    """Only the ratios of weights matter, so each is searched between 0 and the largest current weight."""
    weights = getattr(recipe.fuse, "weights", None)
    if weights is None or len(recipe.sources) < 2:
        return
    values = {name: float(weights.get(name, 1.0)) for name in sorted(recipe.sources)}
    for name, value in values.items():
        yield Parameter(f"fuse.weights.{name}", 0.0, max(1.0, *values.values()), value)


def _intent_weights(recipe: Recipe, intent: str) -> Iterator[Parameter]:
    """The weights of the four signals for one intent; they are scaled to sum to 1, so each is searched from 0 to 1."""
    shares = recipe.intent.weights_of(intent) if recipe.intent else {}
    for signal in sorted(get_args(Signal)):
        yield Parameter(f"{_BY_INTENT}.{intent}.{signal}", 0.0, 1.0, float(shares.get(signal, 0.0)))


def _with_all_signals(recipe: Recipe, paths: Iterable[str]) -> Recipe:
    """The recipe with the weights of all signals written out for each intent of which one is to be changed."""
    named = {path.split(".")[2] for path in paths if path.startswith(f"{_BY_INTENT}.")}
    if recipe.intent is None or not named & set(recipe.intent.names):
        return recipe
    written = {name: dict(recipe.intent.weights_of(name)) for name in recipe.intent.names if name in named}
    intent = recipe.intent.changed(weights={**recipe.intent.weights, **written})
    return recipe.model_copy(update={"intent": intent})


def _bounded(recipe: Recipe) -> Iterator[Parameter]:
    for one in _fields(recipe):
        bounded = one.low > float("-inf") and one.high < float("inf")
        if bounded and not one.whole and not one.path.endswith("_seconds"):
            yield one


def _fields(recipe: Recipe) -> Iterator[Parameter]:
    """All numeric fields of fuser, sources and stages."""
    for part in _PARTS:
        yield from _numbers(getattr(recipe, part), part)


def _numbers(value: Any, path: str) -> Iterator[Parameter]:
    if isinstance(value, BaseModel):
        for name, info in type(value).model_fields.items():
            inner, place = getattr(value, name), f"{path}.{name}"
            if isinstance(inner, int | float) and not isinstance(inner, bool):
                low, high = _bounds(info)
                yield Parameter(place, low, high, float(inner), isinstance(inner, int) and info.annotation is not float)
            elif isinstance(inner, BaseModel):
                yield from _numbers(inner, place)
    elif isinstance(value, Mapping):
        for name in sorted(value):
            yield from _numbers(value[name], f"{path}.{name}")
    elif isinstance(value, tuple | list):
        for number, one in enumerate(value):
            yield from _numbers(one, f"{path}.{number}")


def _bounds(info: FieldInfo) -> tuple[float, float]:
    rules = {kind: float(getattr(rule, kind)) for rule in info.metadata for kind in _BOUNDS if hasattr(rule, kind)}
    low = rules.get("ge", rules.get("gt", float("-inf")))
    high = rules.get("le", rules.get("lt", float("inf")))
    margin = _OPEN * (high - low) if math.isfinite(high - low) else 0.0
    return (low + margin if "gt" in rules else low), (high - margin if "lt" in rules else high)


def _number(text: str, whole: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"parameter: {whole!r} is not allowed: {text!r} is not a number") from None
