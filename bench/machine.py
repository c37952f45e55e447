"""What a table of numbers means nothing without: the machine."""
import os
import pathlib
import platform
import time


def cpu_model():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def busy_ticks():
    """(all, not idle) ticks of all CPUs: proc_stat(5)."""
    ticks = [int(x) for x in pathlib.Path("/proc/stat").read_text()
             .splitlines()[0].split()[1:9]]
    return sum(ticks), sum(ticks) - ticks[3] - ticks[4]


def describe():
    return {
        "cpu": cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "date": time.strftime("%Y-%m-%d %H:%M"),
        "user": "root" if os.geteuid() == 0 else "an ordinary user",
        "load_before": os.getloadavg()[0],
    }
