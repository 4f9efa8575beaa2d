"""Classifies the rows of a Ray Dataset: `dataset.map_batches(Classify, ...)`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _frame, _input
from .errors import ArgumentError


class Classify:
    """An actor's engine with one thread; actors side by side use the processors.

        files = ray.data.read_binary_files("photographs", include_paths=True)
        results = files.map_batches(
            Classify, fn_constructor_kwargs={"model": "int8"}, batch_size=64, batch_format="pyarrow", num_cpus=1,
            concurrency=16)

    model, outputs, language: as `dermafusion.spark.classify` has them, and so are the columns of a batch, `bytes` and
    `path` among them, and those that come out. The formats `numpy`, which is Ray's own choice, and `pandas` do as well,
    with more copies of the photographs.
    """

    def __init__(self, model: str | None = None, outputs: Sequence[str] = ("result",), language: str = "en") -> None:
        _frame.columns(outputs)
        _frame.opened(model)._chosen(language)
        self._language = language
        self._model = model
        self._outputs = outputs

    def __call__(self, batch: Any) -> Any:
        """The pyarrow Table of a batch: each of its rows is one row."""
        import pyarrow

        if not isinstance(batch, pyarrow.Table):
            columns = batch if isinstance(batch, Mapping) else {name: batch[name] for name in batch.columns}
            batch = pyarrow.table({name: _array(name, values) for name, values in columns.items()})
        kinds = {field.name: _frame.kind(field.type) for field in batch.schema}
        return _frame.Plan(kinds, self._outputs, self._language).table(self._model, batch)


def _array(name: str, values: Any) -> Any:
    import pyarrow

    if getattr(values, "ndim", 1) > 1:
        return pyarrow.nulls(len(values), pyarrow.bool_())  # pixels, which nothing reads
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind == "S":
        raise ArgumentError(f"{name} has bytes of one width, which lose zeros at their end", "Give objects.")
    if name in _frame.PASSED and kind == "f":
        raise ArgumentError(
            f"{name} has floating-point numbers, as Ray makes them of whole ones with gaps, which loses digits",
            'Hand the ids over unchanged: map_batches(..., batch_format="pyarrow").',
        )
    try:
        return pyarrow.array(values, from_pandas=True)
    except pyarrow.ArrowException:
        # Cells of several types, as the texts that a table would have.
        return pyarrow.array([None if _input.is_missing(value) else str(value) for value in values])
