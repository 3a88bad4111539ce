r"""Values assigned to names that say they are secret, in any notation.

The rules differ in what may stand in the value's place besides a value. A string literal may
be a placeholder or a text. A shell variable may refer to another. Without quotes there may
be any expression of a programming language, and that is left alone.
"""

from __future__ import annotations

from streamguard.redact.checks import chosen, literal, said, secret_shaped, setting, variable
from streamguard.redact.rule import Rule
from streamguard.redact.rules.foreign_names import FOREIGN
from streamguard.redact.rules.names import (
    ANCHORS,
    NAMES,
    PARAMETER,
    SECRET,
    SHORT_ANCHORS,
    SHORT_IS,
    VARIABLE,
    WEAK_ANCHORS,
    WEAK_IS,
)
from streamguard.redact.rules.notation import END, IS, MARK, NEXT_LINE, OPENED, PAIRED, QUOTED, STOP
from streamguard.redact.rules.telling import TELLING
from streamguard.redact.rules.vendor_names import VENDORS

__all__ = ["ASSIGNMENTS"]

_ATTRIBUTE = r"""[ \t]+[A-Za-z_:.-]+=["'][^<>"'\n]*["']"""
_FLAG = "|".join(
    [
        *(f"(?<=--{word})" for word in ("", "db-", "app-", "user-", "root-", "admin-")),
        *(f"(?<=[ ]-{word})(?=[A-Z])" for word in ("", "Client", "Admin", "User", "Db")),
    ]
)
# A value in bold ends before its asterisks. A sign of a shell's default, `:-`, is none of it;
# a comma is, where text follows it up to white space, and no sign after a name.
_UNQUOTED = "|".join(
    [
        rf"(?<=\*\*)[^{STOP}*=?:][^{STOP}*]{{2,}}[^{STOP}*.](?=\*|{END[3:]}",
        rf"(?<!\*\*)(?:[^{STOP}=?:*+-]|(?<!:)[+-]|\*(?!\*))[^{STOP}]{{2,}}(?:[^{STOP}.]{END}|(?:,[^{STOP}=:]+)+(?=\s|\Z))",
    ]
)
_OWN = (
    Rule(
        "secret-literal",
        context=rf"{SECRET}(?:{IS}|{NEXT_LINE}){OPENED}",
        value=QUOTED,
        anchors=ANCHORS,
        checks=(literal,),
        description="A string literal assigned to a password, a secret or an API key",
        source="the notations of JSON, YAML, TOML, Python, JavaScript, Go, Java, PHP, Ruby",
        examples=(
            'password = "Canarypass"',
            "{'db_password': 'canary;pass word1 x2#', 'n': 1}",
            r'{"body": "{\"client_secret\": \"Canary12\"}"}',
            'password: str = "canarycanary"',
            "  'secret' => 'canarycanary',",
            "apiKey: `canary-key-0123`",
            'const ApiKey := "Canary1"',
            "MY_SECRET_TOKEN='canarycanary'",
            'config["password"] = "canary\\"1"',
            'if (password == "canarycanary") {',
            '<add key="Password" value="canarycanary1" />',
            'var apiKey string = "canarycanary1"',
            'SECRET ?= "canarycanary1"',
            "**API key:** `canary-key-0123`",
            'password = """canarycanary1"""',
            'password = (\n    "canarycanary1"\n)',
            '{"password": {"value": "canarycanary1"}}',
            '- name: DB_PASSWORD\n  value: "canarycanary"',
            '{"name": "DB_PASSWORD", "value": "canarycanary"}',
            'variable "db_password" {\n  type = string\n  default = "canarycanary"',
            "db_pass := 'canarycanary'",
            '$dbpass = "canarycanary"',
            "password=&quot;canarycanary&quot;",
            "&quot;password&quot;: &quot;canarycanary&quot;, &quot;",
            "data-x='{&#34;apiKey&#34;:&#34;canary12&#34;}'",
            r"\u0022password\u0022:\u0022canarycanary\u0022",
            "define('AUTH_SALT'" + "] = '?PULIL7 Canary=[~rw+5Pg^!$ 7Urr'",
        ),
        near_misses=(
            'api_key = ""',
            'api_key = "your-api-key"',
            "password = '${DB_PASSWORD}'",
            'password = f"{password}"',
            'secret: "{{ vault.secret }}"',
            'password: "<password>"',
            '"password": "The password must have eight characters"',
            '"password": "Password"',
            'apiKey: "test"',
            'secret = "****"',
            'secret = "vault:secret/data/app#key"',
            'private_key = "/etc/ssl/private/key.pem"',
            'password_file = "/run/secrets/password1"',
            'secretName: "tls-cert-1"',
            'password = "[REDACTED]"',
            '"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3"',
            '"password": {\n  "type": "string",\n  "description": "8 or more"',
            '"ConsolePassword": "PassWordMustBeAtLeast6Chars."',
            'first_pass = "inline"',
            "&quot;password&quot;: &quot;string&quot;",
            "&quot;password&quot;: &quot;&lt;password&gt;&quot;",
            "api_key: 'os.environ/OPENAI_API_KEY'",
            'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/' + 'bPxRfiCYEXAMPLEKEY"',
            "if (typeof apiKey === 'function') {",
            'typeof password !== "object"',
            'private_key: "_RSAPrivateKey",',
            "refresh_token_key = 'refresh_token'",
            'existingSecret: "my-release-postgresql"',
        ),
    ),
    Rule(
        "secret-variable",
        context=rf"(?:{VARIABLE}|{PARAMETER})=|{VARIABLE}:[ ]{{1,4}}",
        # After a colon it has to fill the line, as in YAML: in code that is a type or a name.
        value=r"""(?<==)[^\s"'`;|&<>\\]{4,}(?=[\s"'`;|&<>\\]|\Z)|(?<!=)[^\s"'`;|&<>\\,]{4,}(?=[\r\n\\]|\Z)""",
        anchors=(*ANCHORS, "PASS", "pass"),
        checks=(variable,),
        description="The value of an environment variable or a parameter with a secret's name",
        source="the notation of shells, of .env files, of queries and forms",
        examples=(
            "SECRET_TOKEN=canarycanary",
            "export DB_PASSWORD=Canary@(ss)! && run",
            "API_KEY=canary0123\nNEXT=1",
            "MYSQL_PASS=canarycanary",
            "DBPASS=canarycanary",
            "PASSWORD_CONFIRMATION=canarycanary",
            r"PASSWORD=Canary1\n",
            "environment:\n  POSTGRES_PASSWORD: canarycanary\n  PGDATA: /x",
            "grant_type=password&client_secret=canarycanary&x=1",
            "https://example.com/login?password=canarycanary#top",
        ),
        near_misses=(
            "PASSWORD=$DB_PASSWORD",
            "PASSWORD=${DB_PASSWORD:-none}",
            "JFROG_SECRET=$(cat /run/secrets/token)",
            "PASSAGE=notsecret",
            "OLDPWD=/home/user",
            "PASSWORD=",
            "SECRET=true",
            "API_KEY=OTHER_API_KEY",
            "API_KEY=os.environ['KEY']",
            "MAX_PASSWORD=64",
            'r[r.ZIP_ER_NOPASSWD=26]="ZIP_ER_NOPASSWD",r',
            "CONF_PASSWORD: user_password,",
            "interface Env { API_KEY: SecretValue; }",
        ),
    ),
    Rule(
        "secret-declared",
        context=(
            rf"(?:(?:ENV|ARG|[sS]etenv|setx|set -g?x|SETX)[ \t]+[A-Z0-9_]*(?:{VARIABLE})[ \t]+(?:{MARK})?"
            rf"|#define[ \t]+[A-Z0-9_]*(?:{VARIABLE})[ \t]+L?\")"
        ),
        value=r"""[^\s"'`;|&<>\\=][^\s"'`;|&<>\\]{3,}(?=[\s"'`;|&<>\\]|\Z)""",
        anchors=("ENV", "ARG", "etenv", "setx", "SETX", "set -", "#define"),
        checks=(variable,),
        description="A variable of the environment with a secret's name that is set without a sign",
        source="Dockerfiles (ENV), C (#define), csh (setenv), fish (set -x), Windows (setx)",
        examples=(
            "ENV DB_PASSWORD canarycanary",
            "setenv API_KEY canary-0123",
            "set -gx SECRET_TOKEN 'canary0123'",
            'setx ACCESS_KEY "canary0123" /M',
            '#define DB_PASSWORD "canarycanary"',
        ),
        near_misses=(
            "ENV PASSWORD $PASSWORD",
            "ENV PASSWORD_FILE /run/secrets/db1",
            "setenv API_KEY <your key>",
            "#define MAX_PASSWORD 64",
            "#define PASSWORD password_1",
            "set -x API_KEY (pass api)",
        ),
    ),
    Rule(
        "secret-assignment",
        context=rf"{SECRET}{IS}",
        value=_UNQUOTED,
        anchors=ANCHORS,
        checks=(setting,),
        description="An unquoted value assigned to a password, a secret or an API key",
        source="the notations of YAML, INI files, connection strings and forms",
        examples=(
            "spring.datasource.password: canarycanary2",
            "password = Canary-1234",
            "host=db user=bob password=canary123 port=5432",
            "password=canary123&password_confirmation=canary123",
            "Server=db;Uid=bob;Pwd=canary123;",
            "It is password: canary12.",
            "**Password:** canary12-blue",
            "**API Key**: canary12",
            "- **Secret Key**: canary12-blue",
            "password：canary12",
            "password: **canary12**",
            "PASSWORD=${DB_PASSWORD:-canary12}",
            "password: canary12,blue34",
        ),
        near_misses=(
            "password = config.api_key",
            "api_key = os.environ['OPENAI_API_KEY']",
            "api_key: process.env.OPENAI_API_KEY,",
            "const secret = await fetchSecret();",
            "connect(password=password, user=user)",
            "password: str",
            "password: Optional[str] = None",
            "secret = None",
            "api_key = get_key2('x')",
            "password: ${DB_PASSWORD}",
            "password: {{ .Values.password }}",
            "password: <password>",
            "password: ********",
            "password: !vault |",
            "password = password1",
            "password_reset_timeout = 3600s",
            "private_key: x25519.X25519PrivateKey,",
            'username, _, password = base64.b64decode(rest).decode().partition(":")',
            "docker run -v `pwd`:/data -w /data image1",
            "secret: [REDACTED]",
            "if password != confirm_password:",
            "existingSecret: my-release-postgresql",
            "secret: my-tls-cert",
            "let pwd = a:dict",
            "password = g:plugin#login.password1",
            "${DB_PASSWORD:-postgres}",
            "password_encryption = scram-sha-256",
            "secret: aes-256-gcm",
            "password: **********",
        ),
    ),
    Rule(
        "token-assignment",
        context=rf"(?:{WEAK_IS})(?:{OPENED})?",
        value=(
            r"""(?<=["'`])[^\s"'`\\]{16,240}(?=["'`\\]|\Z)|"""
            # In brackets without quotes it is a name: an argument of a call.
            rf"""(?<!["'`(])[^{STOP}=][^{STOP}]{{14,240}}[^{STOP}.]{END}"""
        ),
        anchors=WEAK_ANCHORS,
        checks=(secret_shaped,),
        description="A random-looking value assigned to a token, a key or credentials",
        source="the same notations, with names that mean many things",
        examples=(
            '{"token": "opaqueCanary0123456789"}',
            "GITHUB_TOKEN=canary0123ary4567abcd",
            "?token=Canary0123ary4567abcd&x=1",
            'request.setHeader("token", "canary0123ary4567abcd")',
            "auth    = 'canary0123ary4567abcd'",
            "- **Token**: canary0123ary4567abcd",
            "**Token:** `canary0123ary4567abcd`",
            r'"{\"key\": \"canary0123ary4567abcd\"}"',
        ),
        near_misses=(
            "token: CPU",
            "max_tokens=1000000000000000000000",
            'IDENTITY_TOKEN="identity-token-of-bailu"',
            "per_layer_token_embd.weight=CPU0123456789abcdef",
            '"key": "ctrl+shift+down+page_up"',
            "vaultKey: 'inf-role-id-for-staging'",
            "KEYBOARD=notsecret0123456789abcdef",
            "num_key_value_heads=8",
            'public_key = "canary0123ary4567abcd"',
            'primaryKey: "canary0123ary4567abcd"',
            "token = response.usage.prompt_tokens2",
            '"key": "550e8400-e29b-41d4-a716-446655440000"',
            "key=lambda item: item.name",
            '"NextToken": "abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEF"',
            "continuation_token = 'canary0123ary4567abcd'",
            '"clientRequestToken": "d8d7612e-canary-0123ary4567"',
            "e.CancellationToken=e.CancellationTokenSource2=e.Emitter1",
            "mlkem_key: mlkem.MLKEM768PrivateKey,",
            '"AWS::Connect::SecurityKey": "e9f93d5d01b7cd8a"',
            "token-job-token==10.8.18.post20241105",
            "@TOKEN(u8string_literal)",
            '"key":"make-fetch-happen:request-cache:https://registry.example.org/x1y2z3"',
            '"AWS::Route53::KeySigningKey": "a9a67ae6c371fcf4"',
        ),
    ),
    Rule(
        "short-assignment",
        context=rf"(?:{SHORT_IS})(?:{OPENED})?",
        value=(
            r"""(?<=["'`])[^\s"'`\\]{6,}(?=["'`\\]|\Z)|"""
            rf"""(?<!["'`(])[^{STOP}=][^{STOP}]{{4,}}[^{STOP}.]{END}"""
        ),
        anchors=SHORT_ANCHORS,
        checks=(chosen,),
        description="A value with letters among digits assigned to a short name for a password",
        source="settings of mail, of databases and of scripts: pass, pw",
        examples=(
            'auth: {user: "bob@example.com", pass: "Canary12"}',
            '{"pass":"Canary-1234x"}',
            "pass=Canary12",
            "pw: Canary12",
            "PW='canary-12b'",
        ),
        near_misses=(
            'pass: "string1"',
            "tests pass: 12/12 on 2024-01-01",
            "first pass: 120ms",
            "pass = pass2",
            'pass: "${SMTP_PASS1}"',
            "pw=640px",
            "bypass: Canary12",
            '"pass": "the first of 2b tests"',
            "pass: config.smtp.pass1",
        ),
    ),
    Rule(
        "secret-element",
        context=rf"{SECRET}[\"']?(?:{_ATTRIBUTE})*[ \t]*>[ \t\r\n]*",
        # What a host follows is a place to fill in: `<user>:<secret>@host`.
        value=r"[^<>\s:;.,()\[\]{}=@][^<>\s]{3,}(?=<|\Z)|@[^<>\s]{3,}(?=<)",
        anchors=ANCHORS,
        checks=(literal,),
        description="The content of an XML element with a secret's name",
        source="the notation of XML: settings of Maven, responses of web services",
        examples=(
            "<password>canarycanary</password>",
            '<db:Secret id="new" >\n  Canary$1234</db:Secret>',
            "<SecretAccessKey>canary0123</SecretAccessKey>",
            '<property name="password">canarycanary</property>',
        ),
        near_misses=(
            "<password>${env.PASSWORD}</password>",
            "<password></password>",
            "<password>Enter your password</password>",
            "<password>changeme</password>",
            "<passwordPolicy>strict1</passwordPolicy>",
            '<label for="password">Password</label>',
            '<input type="password">required</input>',
            "amqp://<user>:<secret>@broker",
        ),
    ),
    Rule(
        "secret-flag",
        context=rf"(?:{_FLAG})(?:{NAMES}|client-secret|token|pass)(?:=|,?[ \t]+)(?:{MARK})?",
        # In a list, as YAML writes one, it ends where the list goes on or ends.
        value=(
            r"""(?<!,[ ])[^\s"'`;|&<>\\$({\[-][^\s"'`;|&<>\\]{3,}"""
            r"""|(?<=,[ ])[^\s"'`;|&<>\\$({\[\],-][^\s"'`;|&<>\\\],]{3,}(?=[\],])"""
        ),
        anchors=(*ANCHORS, "token", "pass"),
        checks=(setting,),
        description="The value of a command line's flag for a password, a secret or a token",
        source="the notation of command lines",
        examples=(
            "mysql --password=canary12 --user bob",
            "tool --api-key canary12",
            'tool --client-secret "canary12!"',
            "tool --access-token Canary-1234",
            "args: [--password, canary12, --user, bob]",
        ),
        near_misses=(
            "use the --password option of it",
            "tool --token $TOKEN",
            "tool --api-key <key>",
            "tool --token YOUR_TOKEN",
            "tool --password-file x1y2z3",
            "tool --secret=${SECRET}",
            "tool --password -u root",
            "args: [--password, --user2]",
            "use --password, which is the option1",
            "docker build --secret id=npm2,src=npmrc .",
        ),
    ),
    Rule(
        "secret-argument",
        # A method is called on something, or says that it sets: `splitpasswd("x")` does neither.
        context=(
            rf"(?:{SECRET}(?:{PAIRED}|{IS}\[[ ]?)"
            rf"|(?:(?<=[.>])|(?<=[a-z])(?=[A-Z]))(?:{NAMES})\(){OPENED}"
        ),
        value=QUOTED,
        anchors=ANCHORS,
        checks=(said,),
        description="A string literal that is an argument or the first of a list, after a secret's name",
        source="the notation of calls: define() in PHP, setProperty() and builders in Java",
        examples=(
            "define('DB_PASSWORD', 'canary0123');",
            "define('AUTH_KEY',         'kzgllO;k$F_-W68 Fl*iEekX;-pn Canary1$')",
            'System.setProperty("db.password", "canary0123")',
            '.password("canary0123")',
            '"password": ["canary0123"]',
            'os.environ.setdefault("DB_PASSWORD", "canary0123")',
        ),
        near_misses=(
            'getpass("Password", "password")',
            'parser.add_argument("--password", "Password for the user 1 to log in")',
            'os.getenv("API_KEY", "none")',
            '.password("your-password")',
            'translate("password", "form.password.label")',
            '["password", "username2"]',
            '"password": ["This field is required."]',
            "'password' => ['nullable', 'min:8'],",
            '# "md5", "password", "scram-sha-256"',
        ),
    ),
    Rule(
        "secret-block",
        context=rf"(?:{SECRET}){NEXT_LINE}",
        value=rf"[^{STOP}:#-][^{STOP}]{{4,}}[^{STOP}:.](?=[\r\n]|\Z)",
        anchors=ANCHORS,
        checks=(setting,),
        description="A value on the line after a secret's name",
        source="the notation of YAML: block values, and values on a line of their own",
        examples=(
            "password: |\n  canary0123\n",
            "api_key: >-\n    canary0123\nnext: 1",
            "secret:\n    canary0123",
        ),
        near_misses=(
            "password:\n  description: of the user1",
            "secret:\n  secretName: tls1",
            "password: |\n  password of the user1",
            "passwords:\n  - user123",
            "api_key:\n    get_key(x1)",
        ),
    ),
)

ASSIGNMENTS = (*_OWN, *TELLING, *FOREIGN, *VENDORS)
