"""What the options of ``pto-run`` become: the request of one run, or the settings of launches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .command_line import verdicts_of
from .run_options import order_of

if TYPE_CHECKING:
    from pto_dialect.diagnostics.engine import DiagnosticOptions
    from pto_dialect.driver.launch.session import Settings
    from pto_dialect.driver.options import CycleRequest
    from pto_dialect.driver.run.request import Request
    from pto_dialect.driver.run.sanitizing import Sanitizing


def settings_of(ctx: click.Context, given: dict[str, Any], many: bool) -> Settings:
    from pto_dialect.driver.launch.cpp_keys import CppCommand, CppKeys  # deferred: start-up
    from pto_dialect.driver.launch.session import Settings  # deferred: start-up

    def stated(name: str) -> str | None:
        return None if ctx.get_parameter_source(name) is ParameterSource.DEFAULT else given[name]

    return Settings(
        target=given["target"],
        backend=given["backend"],
        release=given["reference_release"],
        accumulate=stated("accumulate"),
        fill=stated("fill"),
        jobs=1 if many else given["jobs"],
        ranks=given["ranks"],
        dump=given["dump"],
        quiet=given["quiet"],
        policy=_policy(given),
        sanitizing=_sanitizing(given),
        timeout=given["timeout"],
        max_memory=given["max_memory"],
        allow_outside=given["allow_outside"],
        schedule=order_of(given),
        cross_core=given["cross_core"],
        scalar_cache=given["scalar_cache"],
        plans=not given["no_plans"],
        verdicts=verdicts_of(given["no_cache"]),
        cpp=CppCommand(CppKeys(given["defines"], given["includes"]), given["cxx"]),
        cycles=given["cycles"],
        advice=not given["no_advice"],
    )


def _policy(given: dict[str, Any]) -> DiagnosticOptions:
    from pto_dialect.diagnostics.engine import DiagnosticOptions  # deferred: start-up

    policy = DiagnosticOptions(given["allow"], given["deny"], given["werror"], given["pedantic"], given["max_errors"])
    return policy._replace(warn=given.get("warn", frozenset()))


def request_of(given: dict[str, Any]) -> Request:
    from pto_dialect.driver.run.compare import Tolerance  # deferred: start-up
    from pto_dialect.driver.run.request import Request  # deferred: start-up
    from pto_dialect.runtime.run.machine import RunOptions  # deferred: start-up

    watched = _sanitizing(given)
    return Request(
        arguments=given["arguments"],
        outputs=given["outputs"],
        expectations=given["expectations"],
        entry=given["entry"],
        target=given["target"],
        release=given["reference_release"],
        blocks=given["blocks"],
        jobs=given["jobs"],
        tolerance=Tolerance(given["rtol"], given["atol"]),
        run=RunOptions(
            accumulate=given["accumulate"],
            fill=given["fill"] or ("poison" if given["sanitize"] or given["trace"] else "zero"),
            backend=given["backend"],
            schedule=order_of(given),
            cross_core=given["cross_core"],
            scalar_cache=given["scalar_cache"],
        ),
        policy=_policy(given),
        dump=given["dump"],
        profile=given["profile"],
        cycles=given["cycles"],
        advice=not given["no_advice"],
        quiet=given["quiet"],
        emit_python=given["emit_python"],
        sanitizing=watched,
        timeout=given["timeout"],
        max_memory=given["max_memory"],
        plans=not given["no_plans"],
        verdicts=verdicts_of(given["no_cache"]),
        listing=given["listing"],
        auto=given["auto"],
        seed=given["seed"],
        init_launch=given["init_launch"],
        reference=given["reference"],
    )


def _sanitizing(given: dict[str, Any]) -> Sanitizing | None:
    cycles: CycleRequest | None = given.get("cycle_request")
    files = [given[one] for one in ("trace", "html", "record")]
    if not given["sanitize"] and cycles is None and files == [None] * 3 and not (given["debug"] or given["compare"]):
        return None
    from pto_dialect.driver.run.sanitizing import Sanitizing  # deferred: start-up
    from pto_dialect.sanitize.options import SanitizeOptions  # deferred: start-up

    options = SanitizeOptions(given["sanitize"], given["sync"])
    files = (given["report"], given["suppressions"], given["trace"])
    shown = (given["record"], given["record_limit"], given["html"], given["record_every"])
    return Sanitizing(options, given["sanitize_max"], *files, given["trace_costs"], given["fix"], cycles, *shown)
