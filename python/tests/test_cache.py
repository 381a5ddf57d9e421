"""Plans and code are kept on disk where that is asked for, and found again."""

import crease
from kernels import WAVE


def test_plans_and_code_are_found_again(tmp_path):
    kernel = crease.Kernel.parse(WAVE)
    assert kernel.plan(N=50).kept == "off"
    for expected in ("added", "found"):
        plan = kernel.plan(N=50, plan_cache=tmp_path / "plans")
        code = plan.compile()
        assert (plan.kept, code.kept) == (expected, expected)
    assert plan.options == {"plan_cache": str(tmp_path / "plans")}
    assert code.instantiate().step == 0


def test_the_users_directory(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert [crease.Kernel.parse(WAVE).plan(N=20, plan_cache=True).kept for _ in range(2)] == ["added", "found"]
    assert (tmp_path / "crease" / "plans").is_dir()
    assert crease.Kernel.parse(WAVE).plan(N=20, plan_cache=False).kept == "off"


def test_what_cannot_be_kept_says_why():
    plan = crease.Kernel.parse(WAVE).plan(N=50, plan_cache="/dev/null/plans")
    assert "/dev/null/plans" in plan.kept and plan.compile().instantiate().step == 0
