/* Calls of tools from Python through the library: in turn and in parallel,
 * answered in any order, ended by limits and by cancelling.
 * test-seconds: 120 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <redoma.h>

#include "tiers.h"

#define V "redoma: 1\n"
#define HELD_MAX 64
#define ASYNC "import asyncio\n"

static struct redoma *open_with(const char *policy)
{
	struct redoma_options o = REDOMA_OPTIONS_INIT;
	struct redoma_policy *p = NULL;
	struct redoma *r = NULL;
	struct redoma_error err = {0};

	o.install_dir = TEST_BUILD;
	if (redoma_policy_parse(policy, strlen(policy), "/", &p, &err) ||
	    redoma_open(p, &o, &r, &err))
		fail_msg("%s", err.text);
	redoma_policy_free(p);
	return r;
}

/* The caller.  What it does is the tool's name. */
struct caller {
	struct redoma *cancel;
	size_t asked, batch; /* batch: answered when so many are here */
	struct redoma_call *held[HELD_MAX];
	size_t n_held, most;
};

static void say(struct redoma_call *c, const char *json)
{
	struct redoma_error err = {0};

	if (redoma_answer(c, json, strlen(json), &err))
		fail_msg("%s", err.text);
}

static void say_held(struct caller *k)
{
	k->most = k->n_held > k->most ? k->n_held : k->most;
	while (k->n_held) {
		struct redoma_call *c = k->held[--k->n_held];

		say(c, redoma_call_args(c, NULL));
	}
}

static void on_call(void *data, struct redoma_call *c)
{
	struct caller *k = data;
	const char *tool = redoma_call_tool(c);

	k->asked++;
	if (!strcmp(tool, "echo")) {
		say(c, redoma_call_args(c, NULL));
	} else if (!strcmp(tool, "fail")) {
		assert_int_equal(redoma_answer_error(c, "PayError", "no money",
						     NULL),
				 0);
	} else if (!strcmp(tool, "odd")) {
		say(c, "{\"$redoma\":\"function\",\"value\":1}");
	} else if (!strcmp(tool, "spaced")) {
		say(c, " [1 , 2]\n");
	} else {
		assert_true(k->n_held < HELD_MAX);
		k->held[k->n_held++] = c;
		if (!strcmp(tool, "batch") && k->n_held == k->batch)
			say_held(k);
		if (!strcmp(tool, "cancel"))
			redoma_cancel(k->cancel);
	}
}

static struct redoma_result *run(struct redoma *h, const char *code,
				 struct caller *k)
{
	struct redoma_request q = REDOMA_REQUEST_INIT;
	struct redoma_result *r = NULL;
	struct redoma_error err = {0};

	tier_of(&q.native, "/usr/bin/python3");
	q.language = "py";
	q.tenant = "t";
	q.source = code;
	q.source_len = strlen(code);
	q.on_call = on_call;
	q.on_call_data = k;
	k->cancel = h;
	if (redoma_run(h, &q, &r, &err))
		fail_msg("%s: %s", code, err.text);
	return r;
}

static void gives(struct redoma *h, struct caller *k, const char *code,
		  const char *value)
{
	struct redoma_result *r = run(h, code, k);
	const char *got = redoma_result_value(r, NULL);

	if (!got || strcmp(got, value))
		fail_msg("%s: %s", code, redoma_result_json(r, NULL));
	redoma_result_free(r);
}

static void ends(struct redoma *h, struct caller *k, const char *code,
		 enum redoma_status status, const char *says)
{
	struct redoma_result *r = run(h, code, k);
	const char *json = redoma_result_json(r, NULL);

	if (redoma_result_status(r) != status || !strstr(json, says))
		fail_msg("%s: %s", code, json);
	redoma_result_free(r);
}

static void a_call_is_its_answer(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, fail, odd]\n"
				       "reuse: tenant\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, "tools.echo(a=[1, 'x', None], \xc3\xa9={})",
	      "{\"a\":[1,\"x\",null],\"\xc3\xa9\":{}}");
	gives(h, &k, "tools.echo({'a': 1, 'b': 2}, b=3)", "{\"a\":1,\"b\":3}");
	gives(h, &k, "r = tools.echo(n=10 ** 20, s={1}, b=b'ab', z=-0.0,"
	      " c=1j)\n"
	      "[r == {'n': 10 ** 20, 's': {1}, 'b': b'ab', 'z': 0, 'c': 1j},"
	      " str(r['z'])]", "[true,\"-0.0\"]");
	gives(h, &k, "tools['echo']()", "{}");
	gives(h, &k, "[list(tools), dir(tools), 'echo' in tools, len(tools)]",
	      "[[\"echo\",\"fail\",\"odd\"],"
	      "[\"echo\",\"fail\",\"odd\"],true,3]");
	gives(h, &k, "import redoma\n"
	      "[redoma.tools is tools, redoma.input_data]", "[true,null]");
	gives(h, &k, "x = 'x' * 300000\ntools.echo(x=x)['x'] == x", "true");
	/* A guest's own $redoma is no tag. */
	gives(h, &k, "tools.echo(v={'$redoma': 'nan'})['v']['$redoma']",
	      "\"nan\"");
	gives(h, &k, "sum(map(lambda i: tools.echo(i=i)['i'], range(5)))",
	      "10");
	redoma_close(h);
}

static void failures_are_exceptions(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, fail, odd]\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, "from redoma import ToolError\n"
	      "try: tools.fail()\nexcept ToolError as e: x = e\n"
	      "[type(x).__name__, str(x), x.name, x.message, x.tool]",
	      "[\"PayError\",\"no money\",\"PayError\",\"no money\",\"fail\"]");
	ends(h, &k, "1\ntools.fail()", REDOMA_STATUS_ERROR,
	     "\"name\":\"PayError\",\"message\":\"no money\"");
	ends(h, &k, "1\ntools.fail()", REDOMA_STATUS_ERROR, "\"line\":2");
	ends(h, &k, "1\nawait tools.fail()", REDOMA_STATUS_ERROR,
	     "\"line\":2");
	assert_int_equal(k.asked, 4);
	gives(h, &k, "out = []\n"
	      "for f in (lambda: tools.echo(1), lambda: tools.echo(f=print),\n"
	      "          lambda: tools.echo(x='x' * (1 << 20)), tools.odd,\n"
	      "          lambda: tools.ech0(), lambda: tools['a\\0']()):\n"
	      "  try: out.append(f())\n"
	      "  except Exception as e: out.append(type(e).__name__)\nout",
	      "[\"TypeError\",\"TypeError\",\"ToolError\",\"ToolError\","
	      "\"ToolDenied\",\"ValueError\"]");
	assert_int_equal(k.asked, 5);
	redoma_close(h);
}

static void awaited_calls_run_together(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, batch]\n"
				       "limits: {in_flight: 5}\n");
	struct caller k = {.batch = 5};

	(void)state;
	/* Each five are answered together and backwards: if fewer came at
	 * once, none would be answered. */
	gives(h, &k, ASYNC "async def main():\n"
	      "  r = await asyncio.gather(*(tools.batch(i=i)\n"
	      "                             for i in range(20)))\n"
	      "  return [x['i'] for x in r]\nasyncio.run(main())",
	      "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]");
	assert_int_equal(k.asked, 20);
	assert_int_equal(k.most, 5);
	gives(h, &k, ASYNC "async def one(i):\n"
	      "  return (await tools.batch(i=i))['i']\n"
	      "async with asyncio.TaskGroup() as g:\n"
	      "  t = [g.create_task(one(i)) for i in range(5)]\n"
	      "sum(x.result() for x in t)", "10");
	gives(h, &k, ASYNC "def f(i): return tools.aio.batch(i=i)\n"
	      "len(await asyncio.gather(*map(f, range(5))))", "5");
	/* Beside a timer; in a plain function; in place of a thread. */
	gives(h, &k, ASYNC "async def tick():\n  await asyncio.sleep(0.02)\n"
	      "  return 'tick'\n"
	      "await asyncio.gather(tick(), tools.echo(a=1))",
	      "[\"tick\",{\"a\":1}]");
	gives(h, &k, "def plain(): return tools.echo(a=2)['a']\n"
	      "async def f(): return plain()\nawait f()", "2");
	gives(h, &k, ASYNC "(await asyncio.to_thread(tools.echo, a=3))['a']",
	      "3");
	ends(h, &k, "async def f(): return tools.echo(a=2)['a']\nawait f()",
	     REDOMA_STATUS_ERROR, "not awaited");
	redoma_close(h);
}

/* What is awaited and is not the usual call, answer or loop. */
static void unusual_calls_are_awaited(void **state)
{
	struct redoma *h = open_with(V "tools: [echo, fail, odd, spaced]\n"
				       "limits: {in_flight: 2}\n"
				       "reuse: tenant\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, ASYNC "class D(dict): pass\n"
	      "[await tools.spaced(), await tools.echo(D(a=1)),\n"
	      " await tools.echo({'a': 1}, a=2, b=(3,)),\n"
	      " await tools['echo'](None), (await tools.echo(s={4}))['s'] =="
	      " {4},\n await tools.aio.echo(t='\xc3\xa9\\n'),\n"
	      " (await tools.echo(v={'$redoma': 'nan'}))['v']['$redoma']]",
	      "[[1,2],{\"a\":1},{\"a\":2,\"b\":[3]},{},true,"
	      "{\"t\":\"\xc3\xa9\\n\"},\"nan\"]");
	gives(h, &k, ASYNC "out = []\n"
	      "for f in (tools.fail, tools.odd, lambda: tools.echo(1),\n"
	      "          lambda: tools.echo({}, {}),\n"
	      "          lambda: tools.echo(f=print), tools.ech0,\n"
	      "          lambda: tools.echo(x='x' * (1 << 20)),\n"
	      "          lambda: tools['a\\0']()):\n"
	      "  try: out.append(await f())\n"
	      "  except Exception as e: out.append(type(e).__name__)\nout",
	      "[\"PayError\",\"ToolError\",\"TypeError\",\"TypeError\","
	      "\"TypeError\",\"ToolDenied\",\"ToolError\","
	      "\"ValueError\"]");
	gives(h, &k, ASYNC "a = tools.echo(a=1)\nout = []\n"
	      "for f in (lambda: a['a'], lambda: a.a, lambda: a._a):\n"
	      "  try: f()\n"
	      "  except Exception as e: out.append('not awaited' in str(e))\n"
	      "b = tools.echo(b=1)\nb.cancel()\nc = tools.echo(c=2)\n"
	      "[out, hasattr(a, 'done'), await a, await c, b.cancelled()]",
	      "[[true,true,false],true,{\"a\":1},{\"c\":2},true]");
	/* In debug mode; of a loop that has ended, heard in the next one. */
	gives(h, &k, ASYNC "async def f(n):\n"
	      "  return [await tools.echo(n=n), tools.echo(n=3)]\n"
	      "r, _ = asyncio.run(f(1), debug=True)\n"
	      "def g(): return tools.echo(n=2)\n"
	      "q, _ = asyncio.run(f(2))\n[r, q, g()]",
	      "[{\"n\":1},{\"n\":2},{\"n\":2}]");
	redoma_close(h);
}

/* Nothing of this is usual, and none of it is a trap. */
static void what_a_call_is_made_of_is_taken_away(void **state)
{
	struct redoma *h = open_with(V "tools: [echo]\nreuse: tenant\n");
	struct caller k = {0};

	(void)state;
	/* The name of the tool, while its answer is made. */
	gives(h, &k, ASYNC "t = tools.echo\n"
	      "class L(asyncio.EventLoop):\n  def get_debug(self):\n"
	      "    global t\n    t.__name__ = 'x' * 3\n"
	      "    [('y%d' % i) * 50 for i in range(1000)]\n"
	      "    return False\n"
	      "async def main():\n  global t\n  n = 0\n"
	      "  for i in range(50):\n    t = tools.echo\n"
	      "    t.__name__ = ''.join(['ec', 'ho', str(i)])\n"
	      "    try: await t(a=1)\n"
	      "    except Exception as e: n += e.tool == f'echo{i}'\n"
	      "  return n\n"
	      "asyncio.Runner(loop_factory=L).run(main())", "50");
	gives(h, &k, "out = []\nasync def f(change):\n  t = tools.echo\n"
	      "  change(t)\n  try: await t(a=1)\n"
	      "  except Exception as e: out.append(type(e).__name__)\n"
	      "await f(lambda t: delattr(t, '__name__'))\n"
	      "await f(lambda t: setattr(t, '__name__', 5))\n"
	      "try: type(tools)().echo\n"
	      "except RecursionError: out.append('ahead of nothing')\n"
	      "out", "[\"AttributeError\",\"TypeError\",\"ahead of nothing\"]");
	redoma_close(h);
}

/* As asyncio has it. */
static void a_loop_calls_soon(void **state)
{
	struct redoma *h = open_with(V "tools: [echo]\nreuse: tenant\n");
	struct caller k = {0};

	(void)state;
	gives(h, &k, ASYNC "import contextvars\n"
	      "v = contextvars.ContextVar('v', default=0)\nout = []\n"
	      "loop = asyncio.get_running_loop()\n"
	      "c = contextvars.copy_context()\nc.run(v.set, 1)\n"
	      "def f(*a): out.append([v.get(), *a])\n"
	      "h = loop.call_soon(f, 'gone')\nh.cancel()\n"
	      "h = loop.call_soon(f, 1, 2, context=c)\nv.set(2)\n"
	      "loop.call_soon(f)\nv.set(3)\nloop.call_soon(f, context=None)\n"
	      "await asyncio.sleep(0)\n"
	      "[out, isinstance(h, asyncio.Handle), h.cancelled(),"
	      " h.get_context() is c]",
	      "[[[1,1,2],[2],[3]],true,false,true]");
	gives(h, &k, ASYNC "out = []\nloop = asyncio.new_event_loop()\n"
	      "def tell(f):\n  try: f()\n"
	      "  except Exception as e: out.append(type(e).__name__)\n"
	      "tell(lambda: loop.call_soon())\n"
	      "tell(lambda: loop.call_soon(print, contex=None))\n"
	      "loop.set_debug(True)\n"
	      "tell(lambda: loop.call_soon(1))\nloop.close()\n"
	      "tell(lambda: loop.call_soon(print))\n"
	      "[out, loop.get_debug()]",
	      "[[\"TypeError\",\"TypeError\",\"TypeError\","
	      "\"RuntimeError\"],true]");
	redoma_close(h);
}

static void waiting_ends_in_time(void **state)
{
	/* The host's own Python imports asyncio in the run. */
	struct redoma *h = open_with(
		tier_native ? V "tools: [hold, cancel, echo]\n"
				"limits: {wall: 2s, calls: 9}\n"
			    : V "tools: [hold, cancel, echo]\n"
				"limits: {wall: 300ms, calls: 9}\n");
	struct caller k = {0};

	(void)state;
	ends(h, &k, "try: tools.hold()\nexcept BaseException: pass\n"
	     "finally:\n  while True: pass", REDOMA_STATUS_WALL_LIMIT, "wall");
	ends(h, &k, "await tools.hold()", REDOMA_STATUS_WALL_LIMIT, "wall");
	ends(h, &k, "tools.cancel()", REDOMA_STATUS_CANCELLED, "cancelled");
	ends(h, &k, "while True:\n  try: tools.echo()\n"
	     "  except Exception: pass",
	     REDOMA_STATUS_CALL_LIMIT, "call");
	/* Given up by the program: its end does not wait for it. */
	gives(h, &k, ASYNC "try:\n  async with asyncio.timeout(0.02):\n"
	      "    await tools.hold()\nexcept TimeoutError: r = 'late'\nr",
	      "\"late\"");
	/* Never awaited, but not given up: it is answered before the end. */
	k.asked = 0;
	gives(h, &k, "tools.aio.echo(a=1)\nawait __import__('asyncio').sleep(0)"
	      "\n7", "7");
	assert_int_equal(k.asked, 1);
	while (k.n_held)
		say(k.held[--k.n_held], "1");
	redoma_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_BOTH_TIERS(a_call_is_its_answer),
		IN_BOTH_TIERS(failures_are_exceptions),
		IN_BOTH_TIERS(awaited_calls_run_together),
		IN_BOTH_TIERS(unusual_calls_are_awaited),
		cmocka_unit_test(what_a_call_is_made_of_is_taken_away),
		cmocka_unit_test(a_loop_calls_soon),
		IN_BOTH_TIERS(waiting_ends_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
