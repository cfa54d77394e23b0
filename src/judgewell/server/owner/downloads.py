"""What an owner downloads from the browser: everything collected, as `judgewell export` writes it, in one file."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import zipfile
from pathlib import Path

from fastapi import APIRouter, Request
from starlette.background import BackgroundTask
from starlette.responses import FileResponse

from judgewell.server.owner.access import record_request, require
from judgewell.server.process import Server
from judgewell.server.queries.export import export


def router(server: Server) -> APIRouter:
    """Where the owner downloads."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/owner/export.zip")
    async def everything(request: Request) -> FileResponse:
        """The export of this moment; that it was taken is in the audit log."""
        account = await require(server, request)
        await record_request(server, request, account, "export", "the study")
        folder = Path(tempfile.mkdtemp(prefix="judgewell-export-"))  # readable by this account alone
        remove = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
        packed = await asyncio.to_thread(_packed, server, folder, server.served.clock())
        name = f"{server.served.study.study.name}.zip"
        return FileResponse(packed, media_type="application/zip", filename=name, background=remove)

    return routes


def _packed(server: Server, folder: Path, now: float) -> Path:
    export(server.store, folder / "files", now=now)
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((folder / "files").iterdir()):
            archive.write(file, file.name)
    return path
