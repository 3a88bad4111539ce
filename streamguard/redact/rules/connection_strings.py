"""Passwords inside addresses.

Only the password is replaced. The group stands alone, so that whoever needs addresses to
stay usable for the reader can leave it out.
"""

from __future__ import annotations

from streamguard.redact.checks import chosen, opaque, uri_password, web_password
from streamguard.redact.placeholder import PLACEHOLDER
from streamguard.redact.rule import Rule

__all__ = ["CONNECTION_STRINGS"]

# The context begins at the colon, not at the scheme: any word may be one.
_WEB = "".join(rf"(?<!{scheme})" for scheme in ("http", "https", "ws", "wss", "HTTP", "HTTPS"))
_PART = r"""[^\s/?#\[\]"'<>@:`|\\]+"""
_MAILBOX = rf":(?://|\\/\\/){_PART}@{_PART}:"  # of a mail server the user's name may be an address
_USER = r"""(?://|\\/\\/)[^\s/?#\[\]"'<>@:`|\\]{0,128}:"""

CONNECTION_STRINGS = (
    Rule(
        "database-uri",
        context=f"{_WEB}:{_USER}",
        # A slash in a password has to be escaped, and often is not.
        value=r"""[^\s"'<>`\\]+(?=@)""",
        anchors=("://", r":\/\/"),
        checks=(uri_password,),
        description="The password in the address of a database, queue, mail or file server",
        source="RFC 3986, user information; the value ends at the last @ before white space or a quote",
        examples=(
            "postgres://admin:Canarypass@db.internal:5432/app",
            "DATABASE_URL=mysql+pymysql://root:Canary/p#ss@localhost/app?charset=utf8",
            "redis://:Canarypass1@cache:6379/0",
            '{"url": "mongodb+srv:\\/\\/u:Canary%40pass@cluster0.example.net\\/db"}',
            "amqp://guest:Canary@pass@mq:5672",
        ),
        near_misses=(
            "redis://localhost:6379/0 and bob@example.com",
            "redis://localhost:6379/0?contact=bob@example.com",
            "mongodb://h1:27017,h2:27017/db",
            "postgres://user:${DB_PASSWORD}@db/app",
            "postgresql://user:<password>@db/app",
            "postgresql://{user}:{password}@{host}/app",
            "postgres://user:****@db/app",
            "ssh://git@example.com:22/path",
        ),
    ),
    Rule(
        "uri-password",
        context=f":{_USER}",
        # On the web a number before a slash is a port, and what follows it is a path.
        value=r"""[^\s/"'<>`\\]+(?=@)|[^\s/@"'<>`\\0-9][^\s/@"'<>`\\]*/[^\s@"'<>`\\]*(?=@)""",
        anchors=("://", r":\/\/"),
        checks=(web_password,),
        description="The password in any address of the form scheme://user:password@host",
        source="RFC 3986, user information",
        examples=(
            "https://user:Canarypw@host.example.com/path",
            "git clone https://bob:Canary!pw@example.com/bob/x.git",
            "(http://a:Canary@pw@127.0.0.1:8080)",
            "https://bob:a/canary12@example.com/x",
            "https://bob:canarypw@example.com/@user",
        ),
        near_misses=(
            "http://localhost:8080/path?to=bob@example.com",
            "http://localhost:8080?to=bob@example.com",
            "https://git@example.com/user/repo.git",
            "https://example.com/search?q=user@example.com",
            "https://url:8000 @something else",
            "https://user:{token}@host.example.com/path",
            "https://host:port/path@v1",
            "https://{host}:{port}/users/@bob",
        ),
    ),
    Rule(
        "mailbox-password",
        context=_MAILBOX,
        value=r"""[^\s/"'<>`\\]+(?=@)""",
        anchors=("://", r":\/\/"),
        checks=(uri_password,),
        description="The password in an address whose user's name is one of mail: smtp://bob@example.com:password@host",
        source="settings of mail servers, in which the @ of the name is not escaped",
        examples=(
            "smtp://bob@example.com:canary12@mail.example.com:587",
            "MAIL_URL=smtps://bob@example.com:Canarypw@mail.example.com",
        ),
        near_misses=(
            "git+ssh://git@example.com:22/bob/x.git@v1.2",
            "git+ssh://git@example.com:bob/x2.git@v1.2",
            "smtp://bob@example.com:${PASSWORD}@mail.example.com",
            "https://bob@example.com:8443@x",
        ),
    ),
    Rule(
        "uri-token",
        context=r":(?://|\\/\\/)",
        value=r"[A-Za-z0-9_-]{20,}(?=[@:])",
        anchors=("://", r":\/\/"),
        checks=(opaque,),
        description="A token in the place of the user's name: https://token@host",
        source="RFC 3986, user information; how tokens of code hosts are given to git",
        examples=(
            "git clone https://canary0123ary4567abcd@git.example.com/bob/x.git",
            "https://canary0123ary4567abcd:x-oauth-basic@git.example.com/bob/x",
        ),
        near_misses=(
            "https://some-long-user-name-of-somebody@git.example.com/x.git",
            "http://a-service-of-the-cluster-internal:8080/",
            "https://short1@git.example.com/x",
        ),
    ),
    # A name that is a secret itself has been taken out, and with it what stood before the password.
    Rule(
        "paired-password",
        context=f"{PLACEHOLDER}:",
        value=r"""[^\s/"'<>`\\]+(?=@)""",
        anchors=("[REDACTED:",),
        checks=(uri_password,),
        description="The password behind a user's name that has been redacted: scheme://name:password@host",
        source="RFC 3986, user information",
        examples=(
            "smtp://[REDACTED:aws-access-key-id:0123abcd]:Canary12pass@mail.example.com",
            "https://[REDACTED:uri-token]:canary@git.example.com/x.git",
        ),
        near_misses=(
            "[REDACTED:email]: bob@example.com",
            "https://[REDACTED:uri-token:0123abcd]:${PASSWORD}@git.example.com/x.git",
        ),
    ),
    Rule(
        "paired-token",
        context=f"{PLACEHOLDER}:",
        value=r"[A-Za-z0-9_=~-]{16,}",
        anchors=("[REDACTED:",),
        checks=(opaque,),
        description="The token behind a name that has been redacted: name:token",
        source="RFC 7617, user name and password, as command lines and headers have them",
        examples=(
            "curl -u [REDACTED:twilio-account-sid:0123abcd]:canary0123ary4567abcd8901 https://api.example.com",
            'auth = "[REDACTED:woocommerce:0123abcd]:cs_canary0123ary4567abcd8901"',
        ),
        near_misses=("[REDACTED:email]:some-long-words-in-between", "[REDACTED:iban:0123abcd]: 5 items"),
    ),
    Rule(
        "oracle-password",
        context=r"jdbc:oracle:[a-z0-9]+:[^\s/@:\"']+/",
        value=r"""[^\s/@"'<>`\\]+(?=@)""",
        anchors=("jdbc:oracle:",),
        checks=(uri_password,),
        description="The password in a JDBC address of Oracle: user/password@host",
        source="Oracle's JDBC documentation",
        examples=("jdbc:oracle:thin:bob/Canary12@//db:1521/app", '"jdbc:oracle:oci:bob/Canary12@db"'),
        near_misses=("jdbc:oracle:thin:@//db:1521/app", "jdbc:oracle:thin:bob/${PASSWORD}@db"),
    ),
    Rule(
        "dsn-password",
        # Without a scheme the name has to tell: `name:value@` is written for many things.
        context=(
            r"""(?:(?:dsn|DSN|Dsn)[A-Za-z0-9_]*["']?[ ]?:?[:=]|["'`]mysql["'`],|mysql\.Open\()"""
            r"""[ ]?["'`]?[A-Za-z0-9_.-]+:"""
        ),
        value=r"""[^\s"'<>`\\/][^\s"'<>`\\]*(?=@)""",
        anchors=("dsn", "DSN", "Dsn", "mysql"),
        checks=(uri_password,),
        description="The password in a data source name without a scheme: user:password@tcp(host)/db",
        source="the documentation of Go's driver for MySQL",
        examples=(
            'sql.Open("mysql", "root:Canary12@tcp(127.0.0.1:3306)/db")',
            'dsn := "root:Canary@12@tcp(127.0.0.1:3306)/db"',
            "DB_DSN=root:Canary12@unix(/run/mysql.sock)/db",
            'gorm.Open(mysql.Open("bob:Canary12@tcp(db:3306)/app"))',
        ),
        near_misses=(
            'dsn = "https://0123456789abcdef@sentry.example.com/1"',
            'dsn := "root:${DB_PASSWORD}@tcp(127.0.0.1:3306)/db"',
            'sql.Open("mysql", "user:password@tcp(127.0.0.1:3306)/db")',
            "Message-Id header, DSN: status:sent to bob@example.com",
        ),
    ),
    Rule(
        "host-password",
        # Other names than those of administrators stand before addresses of mail as well, and the
        # names of databases before the versions of their images: `postgres:16@sha256:...`.
        context=r"(?<![A-Za-z0-9_./@:-])(?:root|admin|administrator|dbadmin|dbuser|guest|sysadmin):",
        value=r"""[^\s/:"'<>`\\]{6,}(?=@)""",
        anchors=("root:", "admin:", "administrator:", "dbuser:", "guest:"),
        checks=(chosen,),
        description="The password of an administrator at a host, without a scheme: root:password@host",
        source="how connections are written for short; data source names of Go's driver for MySQL",
        examples=(
            "root:Canary12@tcp(127.0.0.1:3306)/app",
            "ssh admin:canary-12b@db.example.com",
            "connect to `dbuser:Canary12@10.0.0.5:5432`",
        ),
        near_misses=(
            "root:password@tcp(127.0.0.1:3306)/app",
            "admin:bob@example.com",
            "root:${PASSWORD}@localhost",
            "root:x:0:0:root:/root:/bin/bash",
            "user:bob12x@example.com",
            "https://example.com/admin:canary12@x",
        ),
    ),
)
