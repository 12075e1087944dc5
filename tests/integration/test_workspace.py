# SPDX-License-Identifier: GPL-2.0-or-later
"""Files and workspaces from the command line: copied in and out, what stays here, what comes back, and that what comes out of a session does nothing here."""
import os
import pathlib
import stat
import subprocess

import pytest

from test_cli import DONE, REFUSED, USAGE, Cli


@pytest.fixture(name="cli", scope="module")
def shared_cli(server, tmp_path_factory):
    cli = Cli(server)
    cli.environment["HOME"] = str(tmp_path_factory.mktemp("home"))
    return cli


def git(folder, *words):
    done = subprocess.run(["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(name="folder", scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    (folder / "src").mkdir()
    (folder / "src/main.c").write_text("int main(void) { return 1; }\n")
    (folder / "stays").write_text("as it is\n")
    (folder / "goes").write_text("goes\n")
    (folder / "größe").write_bytes(bytes(range(256)))
    (folder / "run").write_text("#!/bin/sh\n")
    (folder / "run").chmod(0o755)
    git(folder, "init", "-q", "-b", "master")
    git(folder, "remote", "add", "origin", "https://ada:token@example.org/x")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    (folder / ".git/hooks/post-checkout").write_text("#!/bin/sh\ntouch /tmp/never\n")
    for name in (".env", "server.key", "id_ed25519", "src/credentials.json", ".npmrc"):
        (folder / name).write_text("secret")
    (folder / ".env.example").write_text("EXAMPLE=\n")
    (folder / "out").symlink_to("/etc/passwd")
    (folder / "in").symlink_to("src/main.c")
    (folder / ".envrc").write_text("secret")
    for name in ("lib/.git", ".git/modules/lib", "bare.git"):
        (folder / name).mkdir(parents=True)
        (folder / name / "config").write_text("[remote \"origin\"]\n\turl = https://ada:token@example.org/y\n")
    (folder / ".git/config.worktree").write_text("[sendemail]\n\tsmtpPass = token\n")
    (folder / "lib/.git/hooks").mkdir()
    (folder / "lib" / os.fsdecode(b"n\xff")).write_text("no UTF-8")
    return folder


def elsewhere(patch, cli):
    """The command line is run by a git that is at work in another repository, as a hook is."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"):
        patch.setitem(cli.environment, name, "/nonexistent")
    for name, value in {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "nonsense", "GIT_NAMESPACE": "other"}.items():
        patch.setitem(cli.environment, name, value)


@pytest.fixture(name="id", scope="module")
def session_of_it(cli, folder):
    with pytest.MonkeyPatch.context() as patch:
        elsewhere(patch, cli)
        made = cli.run("new", "--image", "minimal", "--workspace", folder, "--include", "./.npmrc", "--include", "src//./main.c")
    said = made.stderr.decode()
    for name in (".env:", "server.key:", "id_ed25519:", "src/credentials.json:", "out:", ".git/hooks:", ".git/config:", ".git/config.worktree:", ".git/modules/lib/config:", "lib/.git/config:", "bare.git/config:",
                 "lib/.git/hooks:", ".envrc:", r'"lib/n\xff":'):
        assert f"  {name}" in said, said
    assert "MB" in said and ".env.example" not in said and ".npmrc" not in said
    name = made.stdout.decode().strip()
    yield name
    kept = pathlib.Path(cli.environment["HOME"], ".local/share/glovebox/workspaces")
    assert {file.name for file in kept.iterdir()} == {f"{name}.tar", f"{name}.tar.json"}
    cli.run("rm", name)
    assert not list(kept.iterdir())


def test_a_session_without_one(cli, make_session):
    said = cli.run("workspace", make_session("minimal").id, status=USAGE).stderr.decode()
    assert "it got no workspace from this machine, or was removed" in said


def test_an_include_of_nothing(cli, folder):
    for name, why in {"nothing": "No such file or directory", "./nothing/": "No such file or directory", ".": "empty", "../x": "segment . or ..", "/etc/passwd": "absolute"}.items():
        said = cli.run("new", "-q", "--image", "minimal", "--workspace", folder, "--include", name, status=USAGE).stderr.decode()
        assert f"--include {name}: " in said and why in said, said


def test_what_is_there(cli, folder, id):
    found = cli.run("exec", id, "--", "sh", "-c", "cd ~/workspace && find . -name .git -prune -o -print | sort && git status --porcelain 2>/dev/null | head; cat .git/config .git/config.worktree .git/modules/lib/config lib/.git/config bare.git/config; ls .git/hooks 2>&1;"
                    " touch .git/x 2>&1; stat -c %a run .git/HEAD", status=DONE).stdout.decode()
    assert found.startswith(".\n./.env.example\n./.npmrc\n./bare.git\n./bare.git/config\n./goes\n./größe\n./in\n./lib\n./run\n./src\n./src/main.c\n./stays\n"), found
    assert "token" not in found and "Permission denied" in found and found.endswith("755\n444\n")
    listed = cli.json("ls", f"{id}:workspace")
    assert {entry["name"] for entry in listed["entries"]} >= {"src", "goes", ".git"}
    assert "workspace" in cli.run("ls", f"{id}:").stdout.decode()
    assert cli.run("workspace", id).stderr == b"nothing has changed\n"


def test_files_there_and_back(cli, tmp_path, id):
    content = os.urandom(300000)
    (tmp_path / "a b").write_bytes(content)
    cli.run("cp", tmp_path / "a b", f"{id}:copied/a b", status=REFUSED)
    cli.run("cp", tmp_path / "a b", f"{id}:a b")
    cli.run("cp", f"{id}:a b", tmp_path / "back")
    assert (tmp_path / "back").read_bytes() == content
    assert cli.run("cp", f"{id}:/home/user/a b", "-").stdout == content
    cli.run("cp", "-", f"{id}:/tmp/typed", input=b"typed")
    assert cli.run("cp", f"{id}:/tmp/typed", "-").stdout == b"typed"
    for words, status in {(f"{id}:none", str(tmp_path / "none")): REFUSED, (f"{id}:workspace", str(tmp_path / "none")): REFUSED, ("x", "y"): USAGE, (f"{id}:a", f"{id}:b"): USAGE,
                          (str(tmp_path), f"{id}:x"): USAGE}.items():
        cli.run("cp", *words, status=status)
        assert not [name for name in os.listdir(tmp_path) if "none" in name]
    (tmp_path / "back.part").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    cli.run("cp", f"{id}:/tmp/typed", tmp_path / "back")
    cli.run("cp", f"{id}:/tmp/typed", tmp_path / "pipe")
    assert os.read(reader, 100) == b"typed" and stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    os.close(reader)
    assert (tmp_path / "back").read_bytes() == b"typed" and (tmp_path / "back.part").read_text() == "mine"
    assert cli.run("cp", f"{id}:workspace", "-", status=REFUSED).stdout == b""
    (tmp_path / "tree/in").mkdir(parents=True)
    (tmp_path / "tree/in/x").write_text("x")
    cli.run("cp", "-r", tmp_path / "tree", f"{id}:tree")
    cli.run("cp", "-r", f"{id}:tree", tmp_path / "tree2")
    assert (tmp_path / "tree2/in/x").read_text() == "x"
    cli.run("cp", "-r", f"{id}:tree", tmp_path / "tree2", status=REFUSED)


def test_what_does_not_come_back_is_told(cli, tmp_path, id):
    key = "-----BEGIN PRIVATE KEY-----\\n" + 8 * ("MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" * 2 + "\\n") + "-----END PRIVATE KEY-----\\n"
    cli.run("exec", id, "--", "sh", "-c", f"mkdir odd; ln -s /etc/passwd odd/out; mkfifo odd/pipe; echo x >odd/x; printf -- '{key}' >key")
    assert b"left out in the session: 2 (" in cli.run("cp", "-r", f"{id}:odd", tmp_path / "odd").stderr
    assert os.listdir(tmp_path / "odd") == ["x"]
    got = cli.run("cp", f"{id}:key", "-")
    assert b"[masked]" in got.stdout and b"is [masked]" in got.stderr
    assert cli.run("cp", f"{id}:odd/x", "-").stderr == b""
    cli.run("exec", id, "--", "rm", "-r", "odd", "key")


def test_into_a_folder(cli, tmp_path, id):
    """By the name that it has; folders on the way on request."""
    (tmp_path / "a b").write_text("1")
    (tmp_path / "into").mkdir()
    for place in (":", ":workspace/", ":/tmp/"):
        cli.run("cp", tmp_path / "a b", f"{id}{place}")
        assert cli.run("cp", f"{id}{place}a b", "-").stdout == b"1"
    cli.run("cp", f"{id}:/tmp/a b", tmp_path / "into")
    assert (tmp_path / "into/a b").read_text() == "1"
    cli.run("cp", "-p", tmp_path / "a b", f"{id}:on/the way/")
    assert cli.run("cp", f"{id}:on/the way/a b", "-").stdout == b"1"
    cli.run("exec", id, "--", "sh", "-c", "rm -r 'a b' on workspace/'a b'")


def change(cli, id):
    cli.run("exec", id, "--", "sh", "-c", "cd ~/workspace && echo 'int main(void) { return 0; }' >src/main.c && rm -f goes && echo new >'new file' && mkdir -p d && echo 1 >d/e")


def test_changes_come_back(cli, folder, tmp_path, id):
    cli.run("workspace", id)
    change(cli, id)
    changes = cli.json("workspace", id, "-o", str(tmp_path / "changes"), "--patch", str(tmp_path / "patch"))["changes"]
    assert {change["path"]: change["change"] for change in changes} == {"src/main.c": "changed", "goes": "deleted", "new file": "added", "d/e": "added"}
    assert {str(path.relative_to(tmp_path / "changes")) for path in (tmp_path / "changes").rglob("*") if path.is_file()} == {"src/main.c", "new file", "d/e"}
    for words, said in {("workspace", id, "--patch", "/dev/full"): "the patch cannot be written: No space", ("cp", f"{id}:workspace/stays", "/dev/full"): "cannot be written here: No space"}.items():
        assert said in cli.run(*words, status=REFUSED).stderr.decode(), words
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", folder, clone], check=True)
    git(clone, "apply", "-p1", str(tmp_path / "patch"))
    assert (clone / "src/main.c").read_text() == "int main(void) { return 0; }\n" and not (clone / "goes").exists() and (clone / "new file").read_text() == "new\n"
    assert (clone / "stays").read_text() == "as it is\n"


def test_a_branch(cli, folder, id, monkeypatch):
    change(cli, id)
    elsewhere(monkeypatch, cli)
    (folder / "stays").write_text("changed here meanwhile\n")
    before = git(folder, "status", "--porcelain")
    cli.run("workspace", id, "--branch", "from-session")
    assert git(folder, "diff", "--name-status", "master", "from-session") == "A\td/e\nD\tgoes\nA\tnew file\nM\tsrc/main.c\n"
    assert git(folder, "show", "from-session:src/main.c") == "int main(void) { return 0; }\n"
    assert git(folder, "status", "--porcelain") == before and git(folder, "rev-parse", "--abbrev-ref", "HEAD") == "master\n"
    for name, words in {"from-session": "already", "a..b": "no name", "-d": "no name", "": "no name"}.items():
        assert words in cli.run("workspace", id, "--branch", name, status=REFUSED).stderr.decode(), name


def test_a_repository_of_the_sessions(cli, folder, tmp_path):
    """Made or changed there, it does not come here, and that is told: once each, however much is in it."""
    id = cli.run("new", "-q", "--image", "minimal", "--workspace", folder).stdout.decode().strip()
    make = "mkdir -p {0}/objects; echo x >{0}/HEAD; echo x >{0}/objects/x; "
    cli.run("exec", id, "--", "sh", "-c", "cd workspace; chmod -R u+w lib .git; echo x >lib/.git/new; echo x >.git/new; mkdir sub; ln -s ../lib/.git/config sub/link; " + make.format("sub/.git") + make.format("sub/.GIT"))
    made = "a repository that was made, changed or taken away in the session stays as it is, there and here"
    told = {f".git: {made}", f"lib/.git: {made}", f"sub/.git: {made}", f"sub/.GIT: {made}", "sub/link: a link into a repository"}
    for words in [], ["-o", tmp_path / "changes"], ["--patch", tmp_path / "patch"], ["--branch", "with-repositories"]:
        first, head, *lines = cli.run("workspace", id, *words).stderr.decode().splitlines()
        assert (first, head, len(lines), {line.strip() for line in lines}) == ("nothing else has changed", "left out:", len(told), told), words
    assert list((tmp_path / "changes").iterdir()) == [] and (tmp_path / "patch").read_bytes() == b"" and git(folder, "diff", "--name-only", "master", "with-repositories") == ""
    answer = cli.json("workspace", id)
    assert answer["changes"] == [] and set(answer["left_out"]) == told
    cli.run("exec", id, "--", "sh", "-c", "cd workspace; rm -r sub lib/.git/new .git/new; echo new >new")
    assert cli.json("workspace", id) == {"changes": [{"path": "new", "change": "added"}], "left_out": []}
    cli.run("rm", id)


def test_git_of_it(cli, folder):
    """In the session it shows what was changed, and refuses to write in words that say why."""
    id = cli.run("new", "-q", "--image", "toolkits", "--workspace", folder).stdout.decode().strip()
    for command, wanted in {"git status --porcelain": " M stays\n", "git diff --stat": "stays", "git log --oneline": "start", "git show HEAD:stays": "as it is\n"}.items():
        said = cli.run("exec", id, "--", "sh", "-c", f"cd ~/workspace && echo changed >stays && {command}", status=DONE).stdout.decode()
        assert wanted in said, (command, said)
    said = cli.run("exec", id, "--", "sh", "-c", "cd ~/workspace && git -c user.name=a -c user.email=a@example.org commit -am no 2>&1; echo $?; git log --oneline | wc -l").stdout.decode()
    assert "index.lock': Permission denied" in said and said.endswith("\n128\n1\n"), said
    cli.run("rm", id)


def test_a_hostile_workspace(cli, folder, tmp_path, id):
    """Repositories, settings, attributes and links that would run or reach something here."""
    marker = tmp_path / "run"
    cli.run("exec", id, "--", "sh", "-c", "cd ~/workspace && chmod -R u+w .git && printf '[core]\\n\\tfsmonitor = touch %s\\n\\thooksPath = .\\n[diff \"x\"]\\n\\tcommand = touch %s\\n' "
            f"{marker} {marker} >.git/config && printf '* diff=x filter=x\\n' >.gitattributes && cp .git/config .gitconfig && "
            "mkdir -p sub/.git 'sub/.GIT ' sub/git~1 && cp .git/config sub/.git/config && cp .git/config 'sub/.GIT /config' && cp .git/config sub/git~1/config && "
            "ln -s .git/config link && ln -s ../../../../etc/passwd deep && ln -s src lsrc")
    cli.run("workspace", id, "-o", str(tmp_path / "changes"), "--patch", str(tmp_path / "patch"))
    cli.run("workspace", id, "--branch", "hostile")
    assert not [name for name in git(folder, "-c", "core.quotePath=false", "ls-tree", "-r", "--name-only", "hostile").splitlines() if ".git" in name.lower().split("/")]
    names = {str(path.relative_to(tmp_path / "changes")) for path in (tmp_path / "changes").rglob("*")}
    assert not any(part.lower().startswith((".git ", "git~")) or part.lower() == ".git" for name in names for part in name.split("/")), names
    said = cli.run("cp", "-r", f"{id}:workspace", tmp_path / "all").stderr.decode().splitlines()
    assert "  .git: it would be a repository's" in said and not any("sub/.git/" in line or ".git/HEAD" in line for line in said) and not (tmp_path / "all/.git").exists()
    assert ".gitattributes" in names and "link" not in names and "deep" not in names and os.readlink(tmp_path / "changes/lsrc") == "src"
    assert b"fsmonitor" not in (tmp_path / "patch").read_bytes().split(b"b/.gitconfig")[0].split(b"b/.gitattributes")[0]
    assert not marker.exists()


def test_a_repository_that_names_programs(cli, tmp_path):
    """Its commit is to be fetched by a program of its own choice: git does not ask for it, and nothing runs here."""
    folder, marker = tmp_path / "repository", tmp_path / "run"
    folder.mkdir()
    (folder / "file").write_text("x")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    commit = git(folder, "rev-parse", "HEAD").strip()
    (folder / ".git/objects" / commit[:2] / commit[2:]).unlink()
    for name, value in {"core.repositoryFormatVersion": "1", "extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.url": str(tmp_path),
                        "remote.origin.uploadpack": f"touch '{marker}'; git-upload-pack", "protocol.allow": "always"}.items():
        git(folder, "config", name, value)
    id = cli.run("new", "-q", "--image", "minimal", "--workspace", folder).stdout.decode().strip()
    assert not marker.exists()
    cli.run("workspace", id, "--branch", "x", status=REFUSED)
    assert not marker.exists()
    cli.run("rm", id)
