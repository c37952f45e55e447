/* cli/report.h - what a result says besides output and value: one line each
 * on stderr. */
#ifndef CLI_REPORT_H
#define CLI_REPORT_H

#include <redoma.h>

/* Status, limit, denials, output cut short; nothing for a run that went
 * well and asked for nothing it was not granted. */
void report_lines(struct redoma_result *r);
void report_stats(struct redoma_result *r);

#endif
