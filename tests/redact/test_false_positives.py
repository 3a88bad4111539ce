"""What stands in a secret's place and is none: in many languages, it all comes through."""

from __future__ import annotations

import pytest

from streamguard.redact import Redactor, rules
from streamguard.redact.rules.assignments import ASSIGNMENTS

pytestmark = pytest.mark.exhaustive

SHA1 = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
UUID = "550e8400-e29b-41d4-a716-446655440000"

CODE = {
    "python": [
        "password = get_password()",
        "self.password = password",
        'password = user["password1"]',
        "token = await client.fetch_token(scope=scope2)",
        "secret: str | None = None",
        "api_key = api_key or default_key2",
        "client_secret = settings.CLIENT_SECRET",
        "def login(user, password=None, token2=None):",
        "password = hashlib.sha256(x.encode()).hexdigest()",
        "_, _, password = base64.b64decode(rest).decode().partition(sep1)",
        "def __init__(self, mlkem_key: mlkem.MLKEM768PrivateKey, x_key: x25519.X25519PrivateKey) -> None:",
        "class CrtS3SigV4AsymAuth(CrtSigV4AsymAuth):",
        "ENV_VAR_AUTH_TOKEN = 'AWS_CONTAINER_AUTHORIZATION_TOKEN'",
        "Client(api_key='GEMINI_API_KEY')",
        "url = 'user=me&password='+pw1+'&x=1'",
        "if password != confirm_password:",
        'def sign(private_key: "_RSAPrivateKey", data: bytes) -> bytes:',
        "refresh_token_key = 'refresh_token'",
        '# "md5", "password", "scram-sha-256"',
    ],
    "javascript": [
        "const apiKey = config.get('apiKey')",
        "password: this.state.password2,",
        "const { password, token } = req.body;",
        "this.secret = await fetchSecret(id1);",
        'if (field.type==="password"||field.name==="apiKey"){',
        "let token = jwt.sign({ id: user1.id }, secret)",
        "auth_token:s?.type===t2?.type,access_token:e.token1??null",
        "password=>validate(password)",
        'r[r.ZIP_ER_NOPASSWD=26]="ZIP_ER_NOPASSWD",r[r.ZIP_ER_WRONGPASSWD=27]',
        "e.CancellationToken=e.CancellationTokenSource2=e.Emitter1=e.Event3",
        "if (typeof apiKey === 'function') {",
        "if (typeof this.password !== 'object') {",
        "if (password !== confirmPassword2) {",
        '"key":"make-fetch-happen:request-cache:https://registry.example.org/a1b2c3"',
    ],
    "typescript": [
        "password: string;",
        "apiKey?: string | undefined;",
        "const secret: SecretValue = this.secrets[0];",
        "private readonly accessToken: Promise<AccessToken2>",
    ],
    "go": [
        "password := cfg.Password",
        'Password string `json:"password"`',
        "apiKey, err := loadAPIKey(ctx)",
        "if secret == nil {",
        'token := r.Header.Get("X-Token")',
    ],
    "java": [
        'String password = request.getParameter("password");',
        "private final String apiKey;",
        "this.password = Objects.requireNonNull(password2);",
        ".password(encoder.encode(user1.getPassword()))",
    ],
    "rust": [
        "let password = args.password.unwrap_or_default();",
        "pub secret: Option<Secret<String>>,",
        "let api_key = ApiKey::new(&config2);",
        "password: &'a str,",
    ],
    "php": [
        "$password = $_POST['password'];",
        "$this->secret = $secret2;",
        "'password' => bcrypt($request->password),",
        "'password' => ['required', 'min:8'],",
        "define('DB_PASSWORD', getenv('DB_PASSWORD'));",
    ],
    "ruby": [
        "password = params[:password]",
        "config.secret_key_base = Rails.application.credentials.secret_key_base",
        "@api_key = options.fetch(:api_key)",
    ],
    "shell": [
        'PASSWORD="$1"',
        "read -s -p Password: PASSWORD",
        "TOKEN=$(cat /run/secrets/token1)",
        "API_KEY=`pass show api/key1`",
        "mysql -u root --password < dump1.sql",
        "docker run --rm -v `pwd`:/data tool:latest",
        "docker build --secret id=npmrc1,src=$HOME/.npmrc .",
        'PGPASSWORD="${DB_PASSWORD:-postgres}"',
    ],
    "csharp": [
        'var password = Configuration["Db:Password"];',
        "public string ApiKey { get; set; }",
        "Password = model.Password2,",
    ],
    "vim": ["let pwd = a:dict.path", "let s:password = g:login#password1"],
    "c++": ["// @TOKEN(u8string_literal)"],
    "sql": ["password VARCHAR(255) NOT NULL,", "SET password = :password1", "secret = $2"],
}
LOOKUPS = {
    "python": ["api_key = os.environ['API_KEY_2']", "secret = os.getenv('SECRET')", "token=env('TOKEN1')"],
    "javascript": ["apiKey: process.env.API_KEY2,", "const secret = import.meta.env.VITE_SECRET"],
    "go": ['password := os.Getenv("DB_PASSWORD")'],
    "java": ['String secret = System.getenv("SECRET_1");', '@Value("${app.api-key}") String apiKey;'],
    "rust": ['let api_key = env::var("API_KEY")?;', 'const SECRET: &str = env!("SECRET1");'],
    "php": ["'password' => env('DB_PASSWORD', ''),", "$apiKey = getenv('API_KEY1');"],
    "ruby": ["password: ENV['DB_PASSWORD']", "api_key = ENV.fetch('API_KEY1')"],
    "shell": ["export API_KEY=$MY_API_KEY", 'PASSWORD="${PASSWORD:-$DEFAULT}"', "API_KEY=%API_KEY1%"],
    "yaml": [
        "password: ${DB_PASSWORD}",
        "api_key: os.environ/OPENAI_API_KEY",
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password: !vault |",
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-secret1",
        "secret: !Ref MySecret2",
        "existingSecret: my-release-postgresql",
        "secret: my-tls-cert",
        "secretName: ingress-tls",
    ],
    "terraform": [
        "password = var.db_password",
        "secret = data.vault_generic_secret.db1.data.password",
        'variable "db_password" {\n  type = string\n  sensitive = true\n}',
        'api_key = "${var.api_key}"',
    ],
    "csharp": ['var apiKey = Environment.GetEnvironmentVariable("API_KEY1");'],
}
STAND_INS = {
    "template": [
        'api_key = "{{ api_key }}"',
        'password = "<your-password>"',
        'secret = "#{secret1}"',
        "password: {{ .Values.db.password }}",
        'token = "%(token)s"',
        "user_pass = '%s:%s' % (user, password)",
        '"password": "@PASSWORD@"',
        "<password>${env.PASSWORD}</password>",
    ],
    "example": [
        'api_key = "your-example-key-here"',
        'api_key: "sample-api-key"',
        "API_KEY=example_key_1234567890",
        "AWS_ACCESS_KEY_ID = AKIA" + "IOSFODNN7EXAMPLE",
        'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/' + 'bPxRfiCYEXAMPLEKEY"',
        'secret = "dummy-secret-123"',
        'password = "changeme"',
        'apiKey: "YOUR_API_KEY"',
        'api_key="sk-123"',
        'api_key="fake-api-key-for-tests"',
        'login(password="wrong-password")',
        '"RefreshToken": "REFRESH_TOKEN"',
        '"SecretId": "MyTestDatabaseSecret"',
    ],
    "masked": [
        'password = "********"',
        'api_key = "sk-ab12...wxyz"',
        'api_key: "AKIA************CDEF"',
        "SECRET=xxxxxxxxxxxxxxxx",
        'secret = "••••••••"',
        "PASSWORD=####-####",
        'password: "______"',
        'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    ],
    "redacted": [
        'password = "[REDACTED]"',
        "password: [REDACTED:secret-assignment:0a1b2c3d]",
        'api_key = "[REDACTED:secret-literal:0a1b2c3d]"',
        "API_KEY=<redacted>",
        'secret = "[FILTERED]"',
        "SNYK_TOKEN=[REDACTED:vendor-assignment:0a1b2c3d]",
        "пароль: [REDACTED:foreign-setting:0a1b2c3d]",
    ],
}
USUAL = {
    "hashes": [
        f"commit {SHA1}",
        f'"integrity": "sha256-{SHA256}"',
        f"slack_commit: {SHA1}",
        f"openai-1.2.3.tar.gz --hash=sha256:{SHA256}",
        f'checksum = "{SHA256}"',
        f"image: okta/api@sha256:{SHA256}",
        '"AWS::ApiGateway::ApiKey": "48205d4ffd7feba3"',
        '"AWS::Backup::BackupVault": "bbc9ab442cde9ecc"',
        '"AWS::Connect::SecurityKey": "e9f93d5d01b7cd8a"',
    ],
    "uuids": [
        f'"id": "{UUID}"',
        f"discord_user_id: {UUID}",
        f'"key": "{UUID}"',
        f"okta_client_id = {UUID}",
        f"correlation_token={UUID}",
        f'"session_id": "{UUID}"',
        f'"clientRequestToken": "{UUID}"',
    ],
    "versions": [
        "openai==1.54.3.dev20241105",
        '"@sentry/node": "^7.112.0-beta.1"',
        'twilio_version = "8.10.0.post20231201"',
        "FROM grafana/grafana:10.2.3-ubuntu",
        "password-validator@5.3.0",
        "node-deploy-token==4.25.17",
        "token-job-token==10.8.18.post20241105",
    ],
    "paths": [
        'private_key = "/etc/ssl/private/key1.pem"',
        "secret: ./certs/server2.key",
        'api_key = "file:///run/secrets/key1"',
        "password_file=/run/secrets/db1",
        'secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"',
        "vault_addr: https://vault.example.com:8200/v1/secret1",
        "Secret: projects/p1/secrets/s1/versions/2",
    ],
    "places in a list": [
        '"NextToken": "abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEFghijK7LM51n"',
        "page_token=abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEFghijK7LM51n",
        "continuationToken: 'abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEFghijK7LM51n'",
        "sync_token = 'abCDeFGhiJKlmnOPqrSTuvwxYZ1aBCdEFghijK7LM51n'",
    ],
    "labels": [
        '"password": "Passwort"',
        '"password": "Mot de passe"',
        '"password": "Contraseña"',
        '"password": "密码"',
        '"apiKey": "API key"',
        '"forgotPassword": "Forgot your password 2 times?"',
        '"ConsolePassword": "PassWordMustBeAtLeast6Chars."',
        "| password | varchar(64) | the hash |",
        "| API key | required | string |",
        '"AccessToken": "minutes"',
    ],
}
PROSE = {
    "english": [
        "The password is required and must have 8 characters.",
        "The secret is to use SHA-256, base64-encoded.",
        "Pass the API key as a header: it is called X-Api-Key2.",
        "My password was changed to something better.",
        "Use the --password option, or --token with a file.",
        "Discord and Slack are 2 services; Vault is a third.",
        "key takeaways: first1, second2, third3",
        "The access token is a JWT signed with RS256.",
        "Password: 8-20 characters",
        "Password: 10-digit PIN",
        "Password: auto-generated",
        "password: one-time",
        "api key: 32-char hex",
        "The password is utf8mb4-encoded",
    ],
    "russian": [
        "Пароль обязателен.",
        "Пароль должен содержать минимум 8 символов.",
        "Секрет: никому не говорите пароль.",
        "Ключ API можно получить в настройках.",
        "Токен: строка из 32 символов",
    ],
    "german": [
        "Das Passwort ist falsch.",
        "Passwort: mindestens 8 Zeichen",
        "Das Geheimnis ist gelüftet.",
        "Geben Sie Ihr Kennwort ein: es ist SHA-256-verschlüsselt",
    ],
    "french": [
        "Le mot de passe est obligatoire.",
        "mot de passe : au moins 8 caractères",
        "La clé API est disponible dans les paramètres.",
        "mot de passe oublié ?",
    ],
    "spanish": [
        "La contraseña es obligatoria.",
        "contraseña: mínimo 8 caracteres",
        "La clave es tener paciencia.",
        "clave: valor1",
    ],
    "portuguese": ["A senha é obrigatória.", "senha: mínimo de 8 caracteres", "O segredo é praticar."],
    "chinese": [
        "密码是必填的。",
        "密码：8-16位字符",
        "请输入密码：",
        "密碼錯誤",
        "密钥为空",
        "口令长度：至少8位",
    ],
    "japanese": ["パスワードは必須です。", "パスワード：8文字以上", "トークンは不要です"],
    "korean": ["비밀번호는 필수입니다", "비밀번호: 8자 이상"],
}
KINDS = {"code": CODE, "lookup": LOOKUPS, "stand-in": STAND_INS, "usual": USUAL, "prose": PROSE}
CASES = [
    pytest.param(text, id=f"{kind}-{sort}-{number}")
    for kind, sorts in KINDS.items()
    for sort, texts in sorts.items()
    for number, text in enumerate(texts)
]
REDACTOR = Redactor(ASSIGNMENTS)
FINDABLE = [
    ("python", 'db_password = "{}"'),
    ("python", 'password = """{}"""'),
    ("python", 'password = (\n    "{}"\n)'),
    ("javascript", "apiKey: '{}',"),
    ("javascript", "const clientSecret = `{}`;"),
    ("go", 'apiKey := "{}"'),
    ("java", '.password("{}")'),
    ("java", 'props.setProperty("db.password", "{}");'),
    ("rust", 'let secret: &str = "{}";'),
    ("php", "define('DB_PASSWORD', '{}');"),
    ("php", "'password' => '{}',"),
    ("ruby", 'password: "{}"'),
    ("shell", "export DB_PASSWORD={}\n"),
    ("shell", "tool --api-key {} --verbose"),
    ("powershell", "Connect -ClientSecret '{}'"),
    ("yaml", "password: {}\n"),
    ("yaml", "password: |\n  {}\n"),
    ("yaml", "- name: DB_PASSWORD\n  value: {}\n"),
    ("terraform", 'variable "db_password" {{\n  default = "{}"\n}}'),
    ("json", '{{"password": "{}"}}'),
    ("json", '{{"password": {{"value": "{}"}}}}'),
    ("json", '{{"name": "DB_PASSWORD", "value": "{}"}}'),
    ("xml", "<password>{}</password>"),
    ("xml", '<add key="Password" value="{}" />'),
    ("query", "https://example.com/x?api_key={}&page=1"),
    ("form", "user=me&password={}&x=1"),
    ("header", "X-Api-Key: {}\r\n"),
    ("markdown", "| password | {} |"),
    ("markdown", "**Password:** `{}`"),
    ("sentence", "The password is {}."),
]


@pytest.mark.parametrize("text", CASES)
def test_what_is_no_secret_comes_through(text: str) -> None:
    assert REDACTOR.scrub(text) == text


def test_every_kind_is_shown_in_several_languages() -> None:
    assert all(len(sorts) >= 4 for sorts in KINDS.values())
    assert set(ASSIGNMENTS) <= set(rules.SECRETS)


@pytest.mark.parametrize("value", ["Canary7!kq-Wm2x9", "Xk9-sample-77qLmT2p", "Xk9----77qLmT2p"])
@pytest.mark.parametrize(("language", "form"), FINDABLE)
def test_a_secret_in_the_same_places_does_not(language: str, form: str, value: str) -> None:
    text = form.format(value)
    shown = REDACTOR.scrub(text)
    assert value not in shown, language
    assert "[REDACTED:" in shown
    assert "".join(map((session := REDACTOR.session()).feed, text)) + session.flush() == shown


def test_a_uuid_is_a_key_after_the_name_of_a_service() -> None:
    for name in ("snyk_token", "HEROKU_API_KEY", "postmark", "hubspotKey", "kucoin_secret"):
        assert UUID not in REDACTOR.scrub(f'{name} = "{UUID}"'), name
