"""A stand-in of a platform: publishes its keys over https, makes signed links, sends notices, takes people back."""

from __future__ import annotations

import base64
import datetime
import hashlib
import hmac
import http.server
import ipaddress
import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from jwt.algorithms import RSAAlgorithm

SECRET = "a secret of the workspace"
AUDIENCE = "https://judge.example.org"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(65537, 2048)


def public(key: rsa.RSAPrivateKey, kid: str, **more: Any) -> dict[str, Any]:
    return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "kid": kid, "use": "sig", "alg": "RS256", **more}


def pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def ids_of(number: int) -> dict[str, str]:
    return {"PROLIFIC_PID": f"person{number}", "SESSION_ID": f"submission{number}", "STUDY_ID": "study1"}


class Platform:
    """The platform's side of everything, with ways to misbehave."""

    def __init__(self, clock: Any) -> None:
        self.clock = clock
        self.signing = {"first": new_key()}
        self.fetched = 0
        self.answer: tuple[int, dict[str, str], bytes] | None = None  # instead of the keys
        self.returned: list[dict[str, list[str]]] = []
        self.address = ""

    def jwks(self) -> dict[str, Any]:
        return {"keys": [public(key, kid) for kid, key in self.signing.items()]}

    def claims(self, number: int, **changed: Any) -> dict[str, Any]:
        now = self.clock()
        made = {"iss": "platform", "aud": AUDIENCE, "iat": int(now), "exp": int(now) + 600, "prolific": ids_of(number)}
        return {name: value for name, value in (made | changed).items() if value is not None}

    def sign(self, claims: dict[str, Any], kid: str = "first", key: Any = None, algorithm: str = "RS256") -> str:
        return jwt.encode(claims, key or self.signing[kid], algorithm=algorithm, headers={"kid": kid})

    def link(self, number: int, token: str | None = None, **changed: str) -> str:
        """Where the platform sends a person."""
        given = {**ids_of(number), "prolific_token": token or self.sign(self.claims(number)), **changed}
        return "/join?" + urlencode(given)

    def notice(self, number: int, status: str, event: str, **changed: Any) -> tuple[bytes, dict[str, str]]:
        """Body and headers of a notice."""
        ids = ids_of(number)
        told = {"event_type": "submission.status.change", "participant_id": ids["PROLIFIC_PID"], "status": status}
        body = json.dumps({**told, "resource_id": ids["SESSION_ID"], **changed}).encode()
        return body, self.signed(body, event)

    def signed(self, body: bytes, event: str, at: float | None = None, secret: str = SECRET) -> dict[str, str]:
        sent = str(int(self.clock() if at is None else at))
        made = hmac.new(secret.encode(), sent.encode() + body, hashlib.sha256).digest()
        signature = base64.b64encode(made).decode()
        headers = {"X-Prolific-Request-Signature": signature, "X-Prolific-Request-Timestamp": sent}
        return {**headers, "X-Event-ID": event}


@contextmanager
def standing_in(folder: Path, clock: Any) -> Iterator[Platform]:
    """The platform at an https address of its own; its certificate is in `folder`."""
    platform = Platform(clock)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path)
            if path.path == "/complete":
                platform.returned.append(parse_qs(path.query))
                return self.say(200, {}, b"back")
            platform.fetched += 1
            self.say(*(platform.answer or (200, {}, json.dumps(platform.jwks()).encode())))

        def say(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in {"content-length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                self.wfile.write(body)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: Any) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    platform.address = f"https://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield platform
    finally:
        server.shutdown()
        server.server_close()


def certificate(folder: Path) -> Path:
    """A certificate for this machine, signed by itself, and its key in one file."""
    key = new_key()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(True, None), True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "platform.pem"
    path.write_bytes(pem(key) + made.public_bytes(serialization.Encoding.PEM))
    return path
