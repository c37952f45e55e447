/* data_verify IMAGE TIMES FILE...: runs each program so often, in turn, in a
 * worker that is kept and whose memory is compared with the image, byte by
 * byte, after each; prints how many runs there were, how many bytes of memory
 * were not put back, and how many runs did not end as they should ("ok", or
 * with an error if the file's name has "error" in it, or a limit). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <redoma.h>

#define SOURCE_MAX 65536

static unsigned long wrong_bytes(const char *json)
{
	static const char key[] = "\"reset_wrong\":";
	const char *at = strstr(json, key);

	return at ? strtoul(at + sizeof key - 1, NULL, 10) : 1ul << 30;
}

static size_t load(const char *path, char *room)
{
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(room, 1, SOURCE_MAX, f) : 0;

	if (f)
		fclose(f);
	return n;
}

static struct redoma *open_handle(void)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma_error err = {0};
	struct redoma *h = NULL;
	static const char text[] = "redoma: 1\nreuse: tenant\nclock: real\n"
				   "random: real\nlimits: {wall: 20s}\n";

	o.install_dir = TEST_BUILD;
	o.verify = 1;
	o.warm = 1;
	if (redoma_policy_parse(text, sizeof text - 1, NULL, &p, &err) ||
	    redoma_open(p, &o, &h, &err)) {
		fprintf(stderr, "%s\n", err.text);
		exit(1);
	}
	redoma_policy_free(p);
	return h;
}

int main(int argc, char **argv)
{
	struct redoma *h = open_handle();
	unsigned long runs = 0, wrong = 0, odd = 0;
	static char room[SOURCE_MAX];

	for (int k = 0; argc > 3 && k < atoi(argv[2]); k++)
		for (int i = 3; i < argc; i++) {
			struct redoma_request q = REDOMA_REQUEST_INIT;
			struct redoma_result *r = NULL;
			struct redoma_error err = {0};
			enum redoma_status s;

			q.language = "py";
			q.image = argv[1];
			q.source = room;
			q.source_len = load(argv[i], room);
			if (redoma_run(h, &q, &r, &err)) {
				fprintf(stderr, "%s: %s\n", argv[i], err.text);
				return 1;
			}
			s = redoma_result_status(r);
			if ((s != REDOMA_STATUS_OK) !=
			    (strstr(argv[i], "error") != NULL)) {
				odd++;
				fprintf(stderr, "%s: %s\n", argv[i],
					redoma_result_json(r, NULL));
			}
			/* What is told is about the reset before this run. */
			wrong += wrong_bytes(redoma_result_json(r, NULL));
			runs++;
			redoma_result_free(r);
		}
	redoma_close(h);
	printf("%lu %lu %lu\n", runs, wrong, odd);
	return 0;
}
