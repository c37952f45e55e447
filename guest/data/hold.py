"""What the data image holds besides, and the last thing before its memory is
taken.
"""
os.environ.update(MPLBACKEND="Agg", MPLCONFIGDIR="/nowhere", HOME="/nowhere")

import numpy.linalg, numpy.fft, numpy.random
import pandas as pd
import scipy.stats, scipy.optimize, scipy.linalg, scipy.signal, scipy.sparse
import scipy.interpolate, scipy.integrate, scipy.special, scipy.spatial
import sklearn.linear_model, sklearn.ensemble, sklearn.cluster, sklearn.tree
import sklearn.preprocessing, sklearn.model_selection, sklearn.metrics
import sklearn.pipeline, sklearn.decomposition, sklearn.neighbors, sklearn.svm
import PIL.Image, PIL.PngImagePlugin, PIL.JpegImagePlugin, PIL.ImageDraw
import openpyxl, lxml.etree, yaml, bs4, dateutil.parser

# matplotlib looks for a place of its own, and for fonts: there is nowhere to
# keep anything, and nothing to find but what is packed.
logging.getLogger("matplotlib").setLevel(logging.ERROR)
IS = tempfile.mkdtemp, os.path.exists, os.walk


def list_fonts(top, *args, **kwargs):
    kind = str(top).rsplit("/", 1)[1]
    return [(str(top), [], [n.rsplit("/", 1)[1] for n in FONTS
                            if f"/fonts/{kind}/" in "/" + n
                            and not n.endswith("/")])]


def is_packed(path):
    return isinstance(path, (str, os.PathLike)) \
        and str(path).startswith(LIBRARY + "/") or IS[1](path)


tempfile.mkdtemp = lambda *args, **kwargs: "/nowhere"
# A font is looked for by its name again when it is used.
os.path.exists = os.path.isfile = is_packed
os.walk = list_fonts
import matplotlib.font_manager
import matplotlib.pyplot as plt
tempfile.mkdtemp, os.walk = IS[0], IS[2]
atexit._clear()


def warm():
    """As the first run would, so that what it would set up is set up."""
    frame = pd.DataFrame({"k": [i % 7 for i in range(1000)],
                          "v": [i * 0.5 for i in range(1000)]})
    frame.groupby("k")["v"].agg(["sum", "mean"]).to_dict()
    frame.merge(frame.head(3), on="k").sort_values("v_x").describe()
    str(frame), frame.to_json(), pd.read_csv(io.StringIO(frame.to_csv()))
    pd.to_datetime(pd.Series(["2024-01-02"])).dt.strftime("%Y").tolist()
    x = np.arange(5000.0).reshape(1000, 5) % 17
    sklearn.linear_model.LinearRegression().fit(x, x @ np.ones(5)).coef_
    sklearn.linear_model.LogisticRegression().fit(x, x[:, 0] > 8)
    sklearn.cluster.KMeans(2, n_init=1, random_state=0).fit(x[:50])
    scipy.stats.ttest_ind(x[:, 0], x[:, 1])
    figure, axes = plt.subplots()
    axes.plot([1, 2, 3], label="a")
    axes.bar(["a", "b"], [1, 2])
    axes.set_title("t")
    axes.legend()
    figure.savefig(io.BytesIO(), format="png")
    plt.close("all")
    for source in (b"import json\nx = [1.5, 'a', {'b': None}]\nx", b"1/0",
                   b"def f(:", b"await asyncio.sleep(0)"):
        rehearse(source)


def fill_holes():
    """What a run allocates then lies side by side, behind all that is held:
    it writes to few pages.  As guest/py/settle.c does."""
    held, n = [], 1 << 20
    end = address(np.empty(n, "u1"))
    while n >= 64:
        a = np.zeros(n, "u1")
        if address(a) > end:
            n //= 2
        else:
            held.append(a)
    for size in range(512 - 17, 0, -16):
        while id(o := bytes(size)) < end:
            held.append(o)
    return held


MANY, IMMORTAL = 1 << 30, 5 << 28


def stop_counting():
    """No object of the image counts its references any more: to use one is not
    to write to it."""
    some = object()
    before = word_at(id(some))
    five = [some] * 5
    if word_at(id(some)) != before + len(five) or word_at(id(None)) < MANY:
        raise SystemError("references are not counted where they were")
    levels = [gc.get_objects()]
    seen = {id(o) for o in levels[0]}
    while levels[-1]:
        fresh = []
        for o in gc.get_referents(*levels[-1]):
            if id(o) not in seen:
                seen.add(id(o))
                fresh.append(o)
        levels.append(fresh)
    at = np.fromiter(seen, "<u4") // 4 - 1
    counts = WORDS[at]
    WORDS[at] = np.where(counts < MANY, np.uint32(IMMORTAL), counts)


def settle():
    global held
    for name in list(scope):
        if name not in ("__name__", "__builtins__", "__doc__", "__package__",
                        "__loader__", "__spec__"):
            del scope[name]
    linecache.clearcache()
    re.purge()
    put_to_sleep()
    put_numpy_to_sleep()
    sys.argv = [""]
    os.environ.clear()
    sys._clear_internal_caches()
    gc.collect()
    stop_counting()
    gc.freeze()
    held = fill_holes()


change_asyncio(asyncio)
sys.meta_path.insert(0, Importer)
gc.disable()
for _ in range(3):
    warm()
# Until the interpreter has made up its mind about the code that each run uses.
for _ in range(60):
    rehearse(b"1+1")
settle()
gc.enable()
