#include <string.h>

#include <yaml.h>

#include "base/cleanup.h"
#include "policy/tree_build.h"

#define WHERE "policy"

static struct tree_mark mark(yaml_mark_t m)
{
	return (struct tree_mark){(int)m.line + 1, (int)m.column + 1};
}

static int refuse(struct tree_mark at, struct redoma_error *err,
		  const char *what)
{
	return tree_refuse(&(struct tree){.line = at.line, .column = at.column},
			   err, "%s", what);
}

/* The reader's own words are for people who know its grammar. */
static int refuse_syntax(const yaml_parser_t *p, struct redoma_error *err)
{
	const yaml_mark_t *m = &p->problem_mark;
	const char *what = p->problem ? p->problem : "not readable as YAML";

	if (p->error == YAML_MEMORY_ERROR)
		return err_nomem(err, WHERE);
	if (!strcmp(what, "found character that cannot start any token"))
		what = "a character that cannot begin a value: a tab (indent "
		       "with spaces), @ or ` (put the text in quotes)";
	else if (p->context &&
		 !strcmp(p->context, "while scanning a quoted scalar"))
		what = "the text in quotes is not closed here, or holds an "
		       "escape that YAML has not";
	else if (!strcmp(what, "could not find expected ':'"))
		what = "a line that is neither \"key: value\" nor \"- entry\"";
	else if (!strcmp(what, "mapping values are not allowed in this "
			       "context"))
		what = "a second \": \" in one line; put the value in quotes, "
		       "or check the indentation";
	else if (strstr(what, "expected ',' or"))
		what = "a list or map in one line is not closed, or lacks a "
		       "comma; check its [ ] { }";
	return refuse(mark(*m), err, what);
}

static int read_scalar(struct tree_builder *b, const yaml_event_t *ev,
		       struct redoma_error *err)
{
	struct str text = {(const char *)ev->data.scalar.value,
			   ev->data.scalar.length};
	bool quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;

	if (ev->data.scalar.anchor)
		return refuse(mark(ev->start_mark), err,
			      "anchors (&) are not read; write the value "
			      "where it is needed");
	if (ev->data.scalar.tag)
		return refuse(mark(ev->start_mark), err,
			      "tags (!) are not read; remove it");
	if (!tree_wants_key(b))
		return tree_add_scalar(b, text, quoted, mark(ev->start_mark),
				       err);
	if (!quoted && str_equal(text, STR("<<")))
		return refuse(mark(ev->start_mark), err,
			      "merge keys (<<) are not read; write the keys "
			      "out");
	return tree_add_key(b, text, mark(ev->start_mark), err);
}

static int read_open(struct tree_builder *b, const yaml_event_t *ev,
		     struct redoma_error *err)
{
	bool map = ev->type == YAML_MAPPING_START_EVENT;
	const yaml_char_t *anchor = map ? ev->data.mapping_start.anchor
					: ev->data.sequence_start.anchor;
	const yaml_char_t *tag = map ? ev->data.mapping_start.tag
				     : ev->data.sequence_start.tag;

	if (anchor)
		return refuse(mark(ev->start_mark), err,
			      "anchors (&) are not read; write the value "
			      "where it is needed");
	if (tag)
		return refuse(mark(ev->start_mark), err,
			      "tags (!) are not read; remove it");
	if (tree_wants_key(b))
		return refuse(mark(ev->start_mark), err,
			      "a key must be one word or a text in quotes");
	return tree_open(b, map ? TREE_MAP : TREE_LIST, mark(ev->start_mark),
			 err);
}

static int read_document(const struct tree_builder *b, const yaml_event_t *ev,
			 struct redoma_error *err)
{
	if (b->root)
		return refuse(mark(ev->start_mark), err,
			      "a second document (---); a policy is one "
			      "document");
	if (ev->data.document_start.version_directive ||
	    ev->data.document_start.tag_directives.start !=
		    ev->data.document_start.tag_directives.end)
		return refuse(mark(ev->start_mark), err,
			      "directives (%) are not read; remove the line");
	return 0;
}

static int read_event(struct tree_builder *b, const yaml_event_t *ev,
		      struct redoma_error *err)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return read_document(b, ev, err);
	case YAML_ALIAS_EVENT:
		return refuse(mark(ev->start_mark), err,
			      "aliases (*) are not read; write the value "
			      "itself, in quotes if it begins with *");
	case YAML_SCALAR_EVENT:
		return read_scalar(b, ev, err);
	case YAML_MAPPING_START_EVENT:
	case YAML_SEQUENCE_START_EVENT:
		return read_open(b, ev, err);
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		tree_close(b);
		return 0;
	default:
		return 0;
	}
}

int tree_read_yaml(struct tree_builder *b, const char *text, size_t len,
		   struct redoma_error *err)
{
	CLEANUP(yaml_parser_delete) yaml_parser_t p;
	bool end = false;
	int e = 0;

	if (!yaml_parser_initialize(&p)) {
		memset(&p, 0, sizeof p);
		return err_nomem(err, WHERE);
	}
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	while (!e && !end) {
		CLEANUP(yaml_event_delete) yaml_event_t ev = {0};

		if (!yaml_parser_parse(&p, &ev))
			return refuse_syntax(&p, err);
		end = ev.type == YAML_STREAM_END_EVENT;
		e = read_event(b, &ev, err);
	}
	return e;
}
