/* broker/report.h - what the usher tells the core: the bodies of FRAME_TOLD. */
#ifndef BROKER_REPORT_H
#define BROKER_REPORT_H

#include "broker/publish.h"
#include "broker/seal.h"

/* Of a plan that was sealed; its descriptors stay with the usher. */
struct report_sealed {
	uint64_t file_bytes; /* seal_file_bytes */
	bool watched;	     /* FINISH has to be asked */
};

/* A run's end. */
struct report_finished {
	struct seal_denial *denials; /* owned, with op, guest and path */
	size_t n_denials;
	struct redoma_error verify; /* code 0: the result holds */
};

MUST_CHECK int report_sealed_encode(const struct sealed *s, struct buf *out,
				    struct redoma_error *err);
/* grants: n, as the policy has them: what sealing made of them is filled in. */
MUST_CHECK int report_sealed_decode(const void *p, size_t len,
				    struct plan_grant *grants, size_t n,
				    struct report_sealed *ret,
				    struct redoma_error *err);
MUST_CHECK int report_finished_encode(const struct sealed *s, struct buf *out,
				      struct redoma_error *err);
MUST_CHECK int report_finished_decode(const void *p, size_t len,
				      struct report_finished *ret,
				      struct redoma_error *err);
void report_finished_done(struct report_finished *r);
/* The most that a report of n files has: room for it is made before. */
size_t report_published_bytes(size_t n);
MUST_CHECK int report_published_encode(const struct published_list *l,
				       struct buf *out,
				       struct redoma_error *err);
/* Fills what published_names made, without allocating. */
MUST_CHECK int report_published_decode(const void *p, size_t len,
				       struct published_list *l,
				       struct redoma_error *err);

#endif
