"""A logger of LiteLLM that writes down all it is given; its file stands beside the configuration."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from litellm.integrations.custom_logger import CustomLogger


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return {"class": type(value).__name__, **value.model_dump(warnings=False)}
    if isinstance(value, BaseException):
        return {"error": str(value), "fields": {name: str(own) for name, own in vars(value).items()}}
    return str(value)


class Recorder(CustomLogger):
    def _write(self, event: str, kwargs: Any, answer: Any) -> None:
        line = json.dumps({"event": event, "kwargs": kwargs, "answer": answer}, default=_plain)
        with Path(os.environ["RECORDED"]).open("a") as file:
            file.write(line + "\n")

    def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
        self._write("pre_api_call", kwargs, None)  # the messages are those that are sent

    def log_post_api_call(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._write("post_api_call", kwargs, response_obj)

    def log_stream_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._write("stream", kwargs, response_obj)

    def log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._write("success", kwargs, response_obj)

    def log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        self._write("failure", kwargs, response_obj)

    async def async_log_stream_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        self._write("async_stream", kwargs, response_obj)

    async def async_log_success_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        self._write("async_success", kwargs, response_obj)

    async def async_log_failure_event(
        self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any
    ) -> None:
        self._write("async_failure", kwargs, response_obj)


recorder = Recorder()
