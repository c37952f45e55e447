/* Runs a libFuzzer target over files and folders of inputs: the fuzz corpus as
 * an ordinary test. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay_file(const char *path)
{
	struct stat st;
	FILE *f = fopen(path, "rbe");

	if (!f || fstat(fileno(f), &st) < 0) {
		perror(path);
		return -1;
	}
	/* Exactly as large as the input, so that a sanitizer sees a read past
	 * its end. */
	uint8_t *data = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
	size_t size = data ? fread(data, 1, (size_t)st.st_size, f) : 0;
	fclose(f);
	if (!data || size != (size_t)st.st_size) {
		free(data);
		perror(path);
		return -1;
	}
	LLVMFuzzerTestOneInput(data, size);
	free(data);
	return 0;
}

static int replay_dir(const char *dir, int *ret_n)
{
	struct dirent **names;
	int n = scandir(dir, &names, NULL, alphasort);
	int failed = n < 0;

	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, names[i]->d_name);
		if (names[i]->d_type == DT_REG) {
			printf("# %s\n", names[i]->d_name);
			fflush(stdout);
			failed |= replay_file(path) < 0;
			++*ret_n;
		}
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return failed ? -1 : 0;
}

int main(int argc, char **argv)
{
	int n = 0, failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay_dir(argv[i], &n) < 0;
	printf("%sok 1 - %d inputs\n1..1\n", failed || !n ? "not " : "", n);
	return failed || !n;
}
