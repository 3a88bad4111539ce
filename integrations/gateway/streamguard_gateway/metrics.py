"""Prometheus metrics of one gateway. Labels are names of routes and rules, never text.

Each gateway has a registry of its own, so that several may live in one process.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from streamguard import Finding

__all__ = ["CONTENT_TYPE", "Metrics"]

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_HELD = (0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)
_SECONDS = (0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1.0)


class Metrics:
    """What a gateway counts.

    Attributes:
        streams: answers, by route and outcome: `complete`, `cut` (by the upstream),
            `disconnected` (by the client), or the code of a refusal.
        active: requests being answered.
        findings: findings, by stage, rule and action.
        held: characters held back behind each piece of a stream.
        added: seconds from the arrival of a piece until what may be shown of it is handed on.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.streams = Counter(
            "streamguard_streams",
            "Answers by route and outcome.",
            ("route", "outcome"),
            registry=self._registry,
        )
        self.active = Gauge("streamguard_streams_active", "Requests being answered.", registry=self._registry)
        self.findings = Counter(
            "streamguard_findings",
            "Findings by stage, rule and action.",
            ("stage", "rule", "action"),
            registry=self._registry,
        )
        self.held = Histogram(
            "streamguard_hold_back_characters",
            "Characters held back behind each piece of a stream.",
            buckets=_HELD,
            registry=self._registry,
        )
        self.added = Histogram(
            "streamguard_added_latency_seconds",
            "Seconds from the arrival of a piece until what may be shown of it is handed on.",
            buckets=_SECONDS,
            registry=self._registry,
        )

    def found(self, finding: Finding, /) -> None:
        """Count a finding; the `on_finding` of every guard."""
        self.findings.labels(finding.stage, finding.rule, finding.action).inc()

    def exposition(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        return generate_latest(self._registry)
