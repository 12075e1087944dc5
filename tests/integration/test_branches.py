# SPDX-License-Identifier: GPL-2.0-or-later
"""Into which repository `glovebox workspace --branch` writes: the folder's own, its worktree's and its submodule's; in none that a folder from elsewhere leads to."""
import os
import shutil

import pytest

from test_cli import REFUSED, Cli
from test_workspace import git

ELSEWHERE = "does not name that folder as its worktree or submodule, so nothing is written into it"
LINK = "a link is on the way"


@pytest.fixture(name="cli", scope="module")
def shared_cli(server, tmp_path_factory):
    cli = Cli(server)
    cli.environment["HOME"] = str(tmp_path_factory.mktemp("home"))
    return cli


def make_repository(folder):
    folder.mkdir()
    (folder / "file").write_text("before\n")
    git(folder, "init", "-q", "-b", "master")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "start")
    return folder


@pytest.fixture(name="real")
def repository_of_the_user(tmp_path):
    return make_repository(tmp_path / "real")


def state(folder):
    """All that is in it."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


class Sent:
    """A folder in a session, where its file was changed."""

    def __init__(self, cli, folder):
        self.cli = cli
        self.id = cli.run("new", "-q", "--image", "minimal", "--workspace", folder).stdout.decode().strip()
        cli.run("exec", self.id, "--", "sh", "-c", "echo after >workspace/file")

    def branch(self, name="made", **more):
        return self.cli.run("workspace", self.id, "--branch", name, **more).stderr.decode()


@pytest.fixture(name="send")
def sender(cli):
    sent = []
    yield lambda folder: sent.append(Sent(cli, folder)) or sent[-1]
    for one in sent:
        cli.run("rm", one.id)


def file_to(folder, real):
    (folder / ".git").write_text(f"gitdir: {real}/.git\n")


def link_to(folder, real):
    (folder / ".git").symlink_to(real / ".git")


def anothers_worktree(folder, real):
    git(real, "worktree", "add", "-q", str(real.parent / "worktree"))
    (folder / ".git").write_text(f"gitdir: {real}/.git/worktrees/worktree\n")


def worktree_of_its_own_making(folder, real):
    """All that git asks of a worktree, but it is not the repository that has it."""
    made = folder / "worktrees/x"
    made.mkdir(parents=True)
    (made / "gitdir").write_text(f"{folder}/.git\n")
    (made / "commondir").write_text(f"{real}/.git\n")
    (made / "HEAD").write_text("ref: refs/heads/master\n")
    (folder / ".git").write_text(f"gitdir: {made}\n")


def folder_with_another_common_one(folder, real):
    git(folder, "init", "-q")
    (folder / ".git/commondir").write_text(f"{real}/.git\n")


def settings_of_its_own(folder, real):
    """The link leads past the settings that name the folder."""
    link_to(folder, real)
    (folder / "config").write_text(f"[core]\n\tworktree = {folder}\n")


@pytest.mark.parametrize("lead", [file_to, link_to, anothers_worktree, worktree_of_its_own_making, folder_with_another_common_one, settings_of_its_own])
def test_what_leads_elsewhere(send, real, tmp_path, lead):
    folder = tmp_path / "fetched"
    folder.mkdir()
    (folder / "file").write_text("before\n")
    lead(folder, real)
    before = state(real)
    said = send(folder).branch(status=REFUSED)
    assert ELSEWHERE in said and str(real / ".git") in said and "-o and --patch" in said
    assert state(real) == before


@pytest.mark.parametrize("has_git", [True, False])
def test_a_repository_above(send, real, has_git):
    """git goes up to it from where no repository is, also from an empty .git."""
    folder = real / "fetched"
    folder.mkdir()
    (folder / "file").write_text("before\n")
    if has_git:
        (folder / ".git").mkdir()
    before = state(real)
    said = send(folder).branch(status=REFUSED)
    assert (ELSEWHERE if has_git else f"there is no .git in {folder}") in said
    assert state(real) == before


@pytest.mark.parametrize("name", ["objects", "objects/pack", "refs", "refs/heads", "refs/heads/in", "logs", "logs/refs/heads/in"])
def test_links_in_it(send, real, tmp_path, name):
    """A repository whose parts are those of another one."""
    git(real, "branch", "in/other")
    folder = tmp_path / "fetched"
    shutil.copytree(real, folder)
    shutil.rmtree(folder / ".git" / name)
    (folder / ".git" / name).symlink_to(real / ".git" / name)
    before = state(real)
    assert LINK in send(folder).branch("in/made", status=REFUSED)
    assert state(real) == before


@pytest.mark.parametrize("name", ["refs/elsewhere/new", "refs/../../../real/.git/refs/heads/new"])
def test_a_branch_that_names_another(send, real, tmp_path, name):
    """git takes it for none, and would write what it names: through a link, or out of the repository without one."""
    folder = tmp_path / "fetched"
    shutil.copytree(real, folder)
    (folder / ".git/refs/elsewhere").symlink_to(real / ".git/refs/heads")
    (folder / ".git/refs/heads/made").write_text(f"ref: {name}\n")
    before = state(real)
    assert "refs/heads/made: it is there already, and no branch" in send(folder).branch(status=REFUSED)
    assert state(real) == before


def test_where_git_tells_why_it_failed(send, real, tmp_path):
    """A link for whatever pid it may have, in a repository that it fails in."""
    folder, victim = tmp_path / "fetched", tmp_path / "victim"
    shutil.copytree(real, folder)
    victim.write_text("mine\n")
    tree = git(folder, "rev-parse", "HEAD^{tree}").strip()
    (folder / ".git/objects" / tree[:2] / tree[2:]).unlink()
    (folder / ".git/fast_import_crash_1").write_text("an old one\n")
    sent = send(folder)
    assert "git has refused the changes" in sent.branch(status=REFUSED)
    (folder / ".git/fast_import_crash_2").symlink_to(victim)
    assert LINK in sent.branch(status=REFUSED)
    assert victim.read_text() == "mine\n"


@pytest.mark.parametrize("where", ["config", "included", "config.worktree"])
def test_hooks_in_its_settings(send, real, where):
    """Of git 2.54 and later."""
    git(real, "config", "include.path", "included")
    git(real, "config", "extensions.worktreeConfig", "true")
    sent = send(real)
    git(real, "config", "-f", f".git/{where}", "hook.x.command", "touch made-by-a-hook")
    git(real, "config", "-f", f".git/{where}", "hook.x.event", "reference-transaction")
    assert "name a hook" in sent.branch(status=REFUSED)
    git(real, "config", "-f", f".git/{where}", "hook.x.event", "pre-commit")
    sent.branch()
    check_made(real)


def check_made(folder, branch="made"):
    assert git(folder, "show", f"{branch}:file") == "after\n"


def test_small_objects_go_to_the_pack(send, real, tmp_path):
    """Each folder of single objects is one of another repository."""
    folder = tmp_path / "fetched"
    shutil.copytree(real, folder)
    for i in range(256):
        place = folder / f".git/objects/{i:02x}"
        if not place.exists():
            place.symlink_to(tmp_path / "other")
    (tmp_path / "other").mkdir()
    send(folder).branch()
    check_made(folder)
    assert os.listdir(tmp_path / "other") == []


def test_a_worktree(send, real, tmp_path):
    """By git worktree, a link on the way to it, and a branch of its own."""
    (tmp_path / "link").symlink_to(tmp_path)
    git(real, "worktree", "add", "-q", "-b", "other", str(tmp_path / "link/worktree"))
    sent = send(tmp_path / "worktree")
    sent.branch()
    check_made(real)
    (real / ".git/worktrees/worktree/gitdir").write_text(f"{tmp_path}/moved/.git\n")
    before = state(real)
    assert ELSEWHERE in sent.branch("second", status=REFUSED)
    assert state(real) == before


def test_a_submodule(send, real, tmp_path):
    above = make_repository(tmp_path / "above")
    git(above, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(real), "sub")
    send(above / "sub").branch()
    check_made(above / "sub")
    assert "made" not in git(above, "branch") + git(real, "branch")


def test_a_separate_repository(send, tmp_path):
    """Only once it names the folder."""
    folder = make_repository(tmp_path / "folder")
    (folder / ".git").rename(tmp_path / "kept.git")
    (folder / ".git").write_text(f"gitdir: {tmp_path}/kept.git\n")
    assert ELSEWHERE in send(folder).branch(status=REFUSED)
    git(tmp_path / "kept.git", "config", "core.worktree", str(folder))
    send(folder).branch()
    check_made(folder)


def test_exchanged_meanwhile(send, real, tmp_path):
    folder = tmp_path / "folder"
    shutil.copytree(real, folder)
    sent = send(folder)
    shutil.rmtree(folder)
    git(real, "worktree", "add", "-q", str(folder))
    before = state(real)
    assert f"was of the repository {folder}/.git when it was sent, and is of {real}/.git now" in sent.branch(status=REFUSED)
    (folder / ".git").unlink()
    assert f"there is no .git in {folder}" in sent.branch(status=REFUSED)
    file_to(folder, real)
    assert ELSEWHERE in sent.branch(status=REFUSED)
    assert state(real) == before


def test_the_callers_own_git(cli, send, real, tmp_path, monkeypatch):
    """Whoever calls it is at work in another repository, as a hook is."""
    folder = tmp_path / "folder"
    shutil.copytree(real, folder)
    for name, value in {"GIT_DIR": ".git", "GIT_COMMON_DIR": ".git", "GIT_WORK_TREE": ".", "GIT_OBJECT_DIRECTORY": ".git/objects", "GIT_INDEX_FILE": ".git/index"}.items():
        monkeypatch.setitem(cli.environment, name, str(real / value))
    before = state(real)
    send(folder).branch()
    check_made(folder)
    assert state(real) == before


def test_no_commit(send, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "file").write_text("before\n")
    assert f"the repository of {folder} has no commit" in send(folder).branch(status=REFUSED)
