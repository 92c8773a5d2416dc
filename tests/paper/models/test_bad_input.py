"""Invalid input is rejected, with an error that says what to do."""

import numpy as np
import pytest

from frugalsvm import Problem, relax
from frugalsvm.paper.models import (
    MODELS,
    big_m,
    bigmp,
    bound_problem,
    boxmp,
    cop,
    dscomp,
    dscop,
    m_range,
    scomp,
    scop,
    smp,
    sr_dlmp,
    weight_bounds,
)
from frugalsvm.search.relaxations import certified_bound
from tests.paper.models.instances import random_problem
from tests.reference import random_data

PROBLEM = random_problem(0)


@pytest.mark.parametrize("M", [0.0, -1.0, np.nan, np.inf, [1, 1, 1, 1, -1]])
@pytest.mark.parametrize("build", [bigmp, boxmp, smp, scomp, dscomp])
def test_big_m_must_be_positive(build, M):
    with pytest.raises(ValueError, match=r"M must be positive.*big_m"):
        build(PROBLEM, M)


def test_big_m_has_one_entry_per_feature():
    with pytest.raises(ValueError, match="one entry per feature"):
        boxmp(PROBLEM, [1.0, 2.0])


@pytest.mark.parametrize("build", [cop, lambda p, K: sr_dlmp(p, K, 1.0)])
def test_k_must_be_among_the_features(build):
    with pytest.raises(ValueError, match="K has feature 5"):
        build(PROBLEM, [1, 5])
    with pytest.raises(ValueError, match="K has feature -1"):
        build(PROBLEM, [-1])
    with pytest.raises(TypeError, match="K must hold feature indices"):
        build(PROBLEM, [0.5])
    with pytest.raises(ValueError, match=r"K has feature\(s\) \[2\].*excludes"):
        build(random_problem(0, exclude=(2,)), [1, 2])


def test_k_of_cop():
    with pytest.raises(ValueError, match="K is empty"):
        cop(PROBLEM, [])
    with pytest.raises(ValueError, match=r"K lacks feature\(s\) \[3\]"):
        cop(random_problem(0, include=(3,)), [0, 1])
    with pytest.raises(ValueError, match="group must hold features of K"):
        cop(PROBLEM, [0, 1], group=[2])
    with pytest.raises(ValueError, match="upper_bound must be the objective"):
        cop(PROBLEM, [0, 1], upper_bound=-1.0)


def test_shor_relaxations_reject_what_would_not_fit():
    rng = np.random.default_rng(0)
    X, y = random_data(rng, 10, 400)
    large = Problem(X, y, max_features=3)
    for build, twin in [
        (scop, "DSCoP"),
        (lambda p: scomp(p, 1.0), "DSCoMP"),
        (lambda p: smp(p, 1.0), "BoxMP or DSMP"),
    ]:
        with pytest.raises(ValueError, match=rf"GB.*memory_limit.*Use {twin}"):
            build(large)
    assert scop(PROBLEM).name == "SCoP"
    with pytest.raises(ValueError, match="memory_limit"):
        scop(PROBLEM, memory_limit=1e4)


def test_choices_are_named():
    with pytest.raises(ValueError, match="cardinality must be"):
        dscop(PROBLEM, cardinality="==")
    with pytest.raises(ValueError, match="cones must be"):
        dscop(PROBLEM, cones="linear")
    costly = random_problem(0, feature_costs=np.ones(5), max_cost=2.5)
    with pytest.raises(ValueError, match=r"does not go with max_cost"):
        dscop(costly, cardinality="=")
    with pytest.raises(ValueError, match="has no features"):
        dscop(random_problem(0, exclude=range(5)))


def test_bound_problems():
    with pytest.raises(ValueError, match="form must be"):
        weight_bounds(PROBLEM, 1.0, form="loose")
    with pytest.raises(ValueError, match="sense must be"):
        bound_problem(PROBLEM, 0, 1.0, sense="up")
    with pytest.raises(ValueError, match="j has feature 9"):
        bound_problem(PROBLEM, 9, 1.0)
    with pytest.raises(ValueError, match="cannot be used"):
        bound_problem(random_problem(0, exclude=(1,)), 1, 1.0)
    with pytest.raises(ValueError, match="upper_bound must be"):
        big_m(PROBLEM, np.nan)
    with pytest.raises(ValueError, match="one entry per feature"):
        m_range(PROBLEM, [1.0])
    with pytest.raises(ValueError, match="form must be"):
        m_range(PROBLEM, np.zeros(5), form="tight")


@pytest.mark.parametrize("form", ["tight", "printed"])
@pytest.mark.parametrize("share", [0.5, 0.999])
def test_an_upper_bound_that_no_solution_has_bounds_nothing(form, share):
    """M = 0 of it would make BigMP report the constant classifier as the optimum."""
    impossible = share * relax(PROBLEM).bound
    for function in (weight_bounds, big_m):
        with pytest.raises(ValueError, match=r"upper_bound=.* proved lower bound.*no "):
            function(PROBLEM, impossible, form=form)


def test_an_objective_that_leaves_no_feature_is_rejected():
    """Above the relaxation, but dual points show that no feature can be used."""
    X, y = random_data(np.random.default_rng(0), 12, 3)
    problem = Problem(X, y, C=1e-3, max_features=1)
    constant = 2e-3 * min(np.sum(y > 0), np.sum(y < 0))
    with pytest.raises(ValueError, match="no solution has this objective"):
        weight_bounds(problem, relax(problem).bound * (1 + 1e-9))
    assert big_m(Problem(X, y, C=1e-3, max_features=0), constant) > 0


def test_certified_bounds():
    alpha = relax(PROBLEM).alpha
    with pytest.raises(ValueError, match=r"model must be one of .*DSCoP.*got 'SDP'"):
        certified_bound(PROBLEM, alpha, "SDP")
    for M in (-10.0, 0.0, np.nan, [1.0, -1.0, 1.0, 1.0, 1.0]):
        with pytest.raises(ValueError, match="M must be positive"):
            certified_bound(PROBLEM, alpha, "DSCoMP", M)
    with pytest.raises(ValueError, match=r"BoxMP needs M.*big_m"):
        certified_bound(PROBLEM, alpha, "BoxMP")
    with pytest.raises(ValueError, match="DSCoP has no big-M"):
        certified_bound(PROBLEM, alpha, "DSCoP", 1.0)
    with pytest.raises(ValueError, match="one entry per feature"):
        certified_bound(PROBLEM, alpha, "DSCoMP", [1.0, 2.0])


def test_limits():
    model = dscop(PROBLEM)
    with pytest.raises(ValueError, match="time_limit must be positive"):
        model.solve(time_limit=0)
    with pytest.raises(ValueError, match="tolerance must be"):
        model.solve(tolerance=0)


def test_relax_names_what_a_model_needs():
    with pytest.raises(ValueError, match=r"model must be one of .*DSCoP"):
        relax(PROBLEM, "SDP")
    with pytest.raises(ValueError, match=r"DSCoMP needs M.*big_m"):
        relax(PROBLEM, "DSCoMP")
    with pytest.raises(ValueError, match="DSCoP has no big-M"):
        relax(PROBLEM, M=1.0)
    with pytest.raises(ValueError, match="SR-DLMP needs K"):
        relax(PROBLEM, "SR-DLMP", M=1.0)
    with pytest.raises(ValueError, match="BoxMP has no set K"):
        relax(PROBLEM, "BoxMP", M=1.0, K=[0])
    with pytest.raises(ValueError, match=r'"native" takes DSCoP and SVM.*clarabel'):
        relax(PROBLEM, "SCoP", solver="native")


def test_every_docstring_opens_with_the_papers_equation():
    labels = {
        "SVM": "prob:l2-SVM", "BigMP": "prob:l2-FS-SVM1", "CoP": "prob:l2-FS-SVM2",
        "BoxMP": "prob:box-l2-FS-SVM1", "SMP": "prob:sdp-l2-FS-SVM1",
        "SCoP": "prob:sdp-l2-FS-SVM2", "SCoMP": "prob:sdp-l2-FS-SVM3",
        "DSMP": "prob:dsdp-l2-FS-SVM1", "DSCoP": "prob:dsdp-l2-FS-SVM2",
        "DSCoMP": "prob:dsdp-l2-FS-SVM3", "SR-DSCoP": "subproblem_exact_procedure",
        "SR-DLMP": "subproblem_exact_procedure_modified",
    }  # fmt: skip
    arguments = {"K": [0], "M": 1.0}
    for name, build in MODELS.items():
        opening = build.__doc__.split("\n\n")[0]
        assert opening.startswith(name)
        assert f"``{labels[name]}``" in opening
        assert ":math:" in opening
        wanted = build.__code__.co_varnames[1:3]
        given = [arguments[a] for a in wanted if a in arguments and name != "CoP"]
        model = build(PROBLEM, *given)
        assert model.equation == labels[name]
        assert model.name.startswith(name)
