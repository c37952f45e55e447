/* Whose turn it is: a jail that is made ahead of need gives way to the runs, one
 * that somebody waits for or that has its run does not. */
#include <dirent.h>
#include "native_core.h"

#define LOW 10 /* of 100, in v2's scale */
#define NORMAL 100

static bool read_number(const char *dir, const char *path, const char *file,
			long *ret)
{
	char name[2048];
	FILE *f;
	bool is;

	snprintf(name, sizeof name, "%s%s/%s", dir, path, file);
	f = fopen(name, "re");
	if (!f)
		return false;
	is = fscanf(f, "%ld", ret) == 1;
	fclose(f);
	return is;
}

/* "cpu" is one of "cpuset", "cpu,cpuacct", ... */
static bool is_cpu(const char *list)
{
	size_t n = strcspn(list, ",");

	while (n != 3 || strncmp(list, "cpu", 3)) {
		if (!list[n])
			return false;
		list += n + 1;
		n = strcspn(list, ",");
	}
	return true;
}

/* In v2's scale, of a line of /proc/PID/cgroup; -1: it is not the line. */
static long weight_in(char *line)
{
	char *list = strchr(line, ':'), *path = list ? strchr(++list, ':') : NULL;
	char dir[300];
	long n;

	if (!path)
		return -1;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	if (!*list)
		return read_number("/sys/fs/cgroup", path, "cpu.weight", &n)
			       ? n : -1;
	snprintf(dir, sizeof dir, "/sys/fs/cgroup/%s", list);
	if (is_cpu(list) &&
	    (read_number(dir, path, "cpu.shares", &n) ||
	     read_number("/sys/fs/cgroup/cpu", path, "cpu.shares", &n)))
		return n * 100 / 1024;
	return -1;
}

static long weight_of(pid_t pid)
{
	char name[64], line[1024];
	long n = -1;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
	f = fopen(name, "re");
	assert_non_null(f);
	while (n < 0 && fgets(line, sizeof line, f))
		n = weight_in(line);
	fclose(f);
	return n;
}

static void is_weight(const struct core_slot *s, long want)
{
	long n = weight_of(s->pid);

	/* cpu.shares are rounded. */
	if (n < want - 1 || n > want)
		fail_msg("jail %u has %ld, wanted %ld", s->number, n, want);
}

static struct core_slot *born(struct core *k, uint32_t number)
{
	struct core_slot *s;

	while (!(s = core_find(k, number)))
		assert_int_equal(core_hear(k, CORE_WAIT_US), 0);
	return s;
}

static void the_refill_gives_way(void **state)
{
	struct core k = {.setup = core_setup()};
	struct native_dead dead;
	struct core_run r;
	struct core_slot *s;

	(void)state;
	k.setup.park = 2;
	core_start(&k);
	s = born(&k, 1);
	if (weight_of(s->pid) < 0) {
		core_stop(&k);
		print_message("no cpu controller\n");
		skip();
	}
	/* Somebody waits for the first. */
	is_weight(s, NORMAL);
	born(&k, 2);
	for (uint32_t n = 1; n < 4; n++) {
		s = born(&k, n);
		core_run_init(&r);
		assert_int_equal(core_admit(&k, s, &r), 0);
		is_weight(s, NORMAL);
		/* One is still parked: nobody waits for that which is made. */
		s = born(&k, n + 2);
		is_weight(s, LOW);
		core_end(&k, core_find(&k, n), &dead);
		is_weight(s, LOW);
		core_run_done(&r);
	}
	core_stop(&k);
}

static void what_was_asked_for_does_not(void **state)
{
	struct core k = {.setup = core_setup()};
	struct core_slot *s;

	(void)state;
	k.setup.park = 0;
	core_start(&k);
	for (uint32_t n = 1; n < 3; n++) {
		assert_int_equal(channel_send(k.c, FRAME_SPAWN, FRAME_LAST,
					      NULL, 0, NULL),
				 0);
		s = born(&k, n);
		if (weight_of(s->pid) >= 0)
			is_weight(s, NORMAL);
	}
	core_stop(&k);
}

/* The directory of a process in the hierarchy that shares out the CPU. */
static void place_of(pid_t pid, char *ret, size_t size)
{
	char name[64], line[1024];
	FILE *f;

	*ret = '\0';
	snprintf(name, sizeof name, "/proc/%d/cgroup", (int)pid);
	f = fopen(name, "re");
	assert_non_null(f);
	while (!*ret && fgets(line, sizeof line, f)) {
		char *list = strchr(line, ':') + 1, *path = strchr(list, ':');
		char copy[1024];

		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		snprintf(copy, sizeof copy, "0:%s:%s", list, path);
		if (weight_in(copy) >= 0)
			snprintf(ret, size, "%s", path);
	}
	fclose(f);
}

/* The child of that name; 0: none. */
static pid_t child_called(pid_t parent, const char *name)
{
	DIR *d = opendir("/proc");
	pid_t found = 0;
	struct dirent *e;

	assert_non_null(d);
	while (!found && (e = readdir(d))) {
		char path[300], comm[32] = "";
		int ppid = 0;
		FILE *f;

		snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
		f = atoi(e->d_name) > 0 ? fopen(path, "re") : NULL;
		if (!f)
			continue;
		if (fscanf(f, "%*d (%31[^)]) %*c %d", comm, &ppid) == 2 &&
		    ppid == parent && !strcmp(comm, name))
			found = atoi(e->d_name);
		fclose(f);
	}
	closedir(d);
	return found;
}

/* Those that outlive it, or that a file system may hold for ever: the group of
 * the spawner cannot be removed while they are in it. */
static void stays_outside(pid_t spawner, const char *name, const char *maker)
{
	pid_t pid = child_called(spawner, name);
	char place[1024];

	assert_true(pid > 0);
	place_of(pid, place, sizeof place);
	if (!strncmp(place, maker, strlen(maker)))
		fail_msg("%s is in %s", name, place);
}

/* What a spawner does counts with what its jails do, not beside it. */
static void the_spawner_counts_with_its_jails(void **state)
{
	struct core k = {.setup = core_setup()};
	char spawner[1024], jail[1024];
	struct core_slot *s;

	(void)state;
	core_start(&k);
	s = born(&k, 1);
	if (weight_of(s->pid) < 0 || k.ready.cgroups == JAIL_CGROUPS_V2) {
		core_stop(&k);
		print_message("no v1 cpu controller\n");
		skip();
	}
	place_of(k.pid, spawner, sizeof spawner);
	place_of(s->pid, jail, sizeof jail);
	print_message("# %s\n# %s\n", spawner, jail);
	strrchr(jail, '/')[1] = '\0';
	assert_int_equal(strncmp(spawner, jail, strlen(jail)), 0);
	assert_string_equal(spawner + strlen(jail), "maker");
	stays_outside(k.pid, "redoma-mounter", jail);
	stays_outside(k.pid, "redoma-sweeper", jail);
	/* It ends by itself: it is not swept with what it leaves. */
	assert_int_equal(core_stop(&k), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_refill_gives_way),
		cmocka_unit_test(what_was_asked_for_does_not),
		cmocka_unit_test(the_spawner_counts_with_its_jails),
	};

	if (!core_can())
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
