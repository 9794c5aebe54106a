"""Objectives of LightGBM and XGBoost."""

import pytest

from tests.verify.audit.doors.table import held

HEAD = """
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + 0.5 * rng.normal(size=60) > 0).astype(float)
def objective(pred, data):
    p = 1 / (1 + np.exp(-pred))
    return p - data.get_label(), s * p * (1 - p)
def of_labels(t, pred):
    p = 1 / (1 + np.exp(-pred))
    return p - t, s * p * (1 - p)
"""
LIGHT = {
    "objective": """
data = lightgbm.Dataset(X, label=y)
show(lightgbm.train(dict(objective=objective, verbose=-1, num_threads=1), data, 4).predict(X)[:4])""",
    "of_labels": """
model = lightgbm.LGBMRegressor(objective=of_labels, n_estimators=4, verbose=-1, n_jobs=1)
show(model.fit(X, y).predict(X)[:4])""",
}
EXTREME = {
    "objective": """
data = xgboost.DMatrix(X, label=y)
show(xgboost.train(dict(nthread=1), data, 4, obj=objective).predict(data)[:4])""",
    "of_labels": """
show(xgboost.XGBRegressor(objective=of_labels, n_estimators=4, n_jobs=1).fit(X, y).predict(X)[:4])""",
}


@pytest.mark.parametrize("name", LIGHT)
def test_lightgbm(name):
    pytest.importorskip("lightgbm", reason="LightGBM is not installed")
    held(f"{HEAD}import lightgbm{LIGHT[name]}", (name, "objective"))


@pytest.mark.parametrize("name", EXTREME)
def test_xgboost(name):
    pytest.importorskip("xgboost", reason="XGBoost is not installed")
    held(f"{HEAD}import xgboost{EXTREME[name]}", (name, "objective"))
