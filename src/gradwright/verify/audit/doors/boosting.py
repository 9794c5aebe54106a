"""LightGBM and XGBoost: objectives that return gradient and Hessian, and no value."""

from __future__ import annotations

from typing import Any

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import Heard
from gradwright.verify.pairs.pair import OBJECTIVE

_NAMES = ("objective", "objective_type", "app", "application", "loss")


def _judged(call: Call, objective: Heard | None, argument: str) -> Pairs | None:
    if objective is None:
        return None
    return lambda: [call.pair(OBJECTIVE, None, objective, argument)]


@door("lightgbm", "train", "cv")
def light(call: Call) -> Pairs | None:
    """``lightgbm.train``: objective(preds, train_data) among the parameters."""
    params = call.get("params") or {}
    name = next((n for n in _NAMES if callable(params.get(n))), None)
    if name is None:
        return None
    objective = call.listen(params[name])
    call.given["params"] = params | {name: objective}
    return _judged(call, objective, name)


@door("lightgbm.sklearn", "LGBMModel.fit")
def light_model(call: Call) -> Pairs | None:
    """LightGBM's estimators: objective(y_true, y_pred[, weight[, group]])."""
    model = call.given["self"]
    if not callable(model._objective):
        return None
    objective = call.listen(model._objective, moving=2, at=1)
    call.swap(model, "_objective", objective)
    return _judged(call, objective, "objective")


@door("xgboost", "train", "cv")
def extreme(call: Call) -> Pairs | None:
    """``xgboost.train``: obj(predt, dtrain)."""
    return _judged(call, call.hear("obj"), "obj")


@door("xgboost", "Booster.update")
def update(call: Call) -> Pairs | None:
    """``Booster.update``, likewise."""
    return _judged(call, call.hear("fobj"), "fobj")


@door("xgboost.sklearn", "XGBModel.fit", "XGBClassifier.fit", "XGBRanker.fit")
def extreme_model(call: Call) -> Pairs | None:
    """XGBoost's estimators: objective(y_true, y_pred[, sample_weight])."""
    model: Any = call.given["self"]
    if not callable(model.objective):
        return None
    objective = call.listen(model.objective, moving=2, at=1)
    call.swap(model, "objective", objective)
    return _judged(call, objective, "objective")


DOORS: list[Door] = [*light, *light_model, *extreme, *update, *extreme_model]
