#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "guest.h"
#include "quick.h"
#include "text.h"

size_t text_utf8(char *b, uint32_t c)
{
	if (c < 0x80) {
		b[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		b[0] = (char)(0xc0 | c >> 6);
		b[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		b[0] = (char)(0xe0 | c >> 12);
		b[1] = (char)(0x80 | (c >> 6 & 63));
		b[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	b[0] = (char)(0xf0 | c >> 18);
	b[1] = (char)(0x80 | (c >> 12 & 63));
	b[2] = (char)(0x80 | (c >> 6 & 63));
	b[3] = (char)(0x80 | (c & 63));
	return 4;
}

size_t text_base64(char *b, const uint8_t *p, size_t n)
{
	static const char abc[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
				  "qrstuvwxyz0123456789+/";
	size_t k = 0;

	for (size_t i = 0; i < n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;

		v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
		v |= i + 2 < n ? p[i + 2] : 0;
		b[k++] = abc[v >> 18];
		b[k++] = abc[v >> 12 & 63];
		b[k++] = i + 1 < n ? abc[v >> 6 & 63] : '=';
		b[k++] = i + 2 < n ? abc[v & 63] : '=';
	}
	return k;
}

static int sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	if (c == '+' || c == '-')
		return 62;
	return c == '/' || c == '_' ? 63 : -1;
}

size_t text_unbase64(uint8_t *b, const char *p, size_t n)
{
	uint32_t v = 0;
	int bits = 0;
	size_t k = 0;

	for (size_t i = 0; i < n && p[i] != '='; i++) {
		int s = sextet(p[i]);

		if (s < 0)
			continue;
		v = (v << 6 | (uint32_t)s) & 0xffffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			b[k++] = (uint8_t)(v >> bits);
		}
	}
	return k;
}

void text_date(char *b, double ms)
{
	int64_t t = (int64_t)ms, day = t / 86400000, left = t % 86400000;
	int64_t era, doe, yoe, doy, mp, y, m, d;

	if (left < 0) {
		left += 86400000;
		day--;
	}
	/* Days to a date of the proleptic Gregorian calendar. */
	day += 719468;
	era = (day >= 0 ? day : day - 146096) / 146097;
	doe = day - era * 146097;
	yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	mp = (5 * doy + 2) / 153;
	d = doy - (153 * mp + 2) / 5 + 1;
	m = mp < 10 ? mp + 3 : mp - 9;
	y = yoe + era * 400 + (m <= 2);
	snprintf(b, 40,
		 y < 0 || y > 9999 ? "%c%06d-%02d-%02dT%02d:%02d:%02d.%03dZ" :
				     "%c%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
		 y < 0 ? '-' : '+', abs((int)y), (int)m, (int)d,
		 (int)(left / 3600000), (int)(left / 60000 % 60),
		 (int)(left / 1000 % 60), (int)(left % 1000));
	if (y >= 0 && y <= 9999)
		memmove(b, b + 1, strlen(b));
}

void text_mend(char *p, size_t n)
{
	for (char *e = p + n; (p = memchr(p, 0xed, (size_t)(e - p))); p++)
		if (e - p > 2 && (p[1] & 0xe0) == 0xa0)
			memcpy(p, "\xef\xbf\xbd", 3);
}

int text_is_utf8(const uint8_t *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		uint32_t c = p[i], low;
		size_t more, k;

		if (c < 0x80) {
			i++;
			continue;
		}
		if (c < 0xc2 || c > 0xf4)
			return 0;
		more = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
		low = more == 2 ? 0x800 : 0x10000;
		c &= 0x3f >> more;
		if (n - i <= more)
			return 0;
		for (k = 1; k <= more; k++) {
			if ((p[i + k] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i + k] & 0x3f);
		}
		if (more > 1 && (c < low || c > 0x10ffff ||
				 (c >= 0xd800 && c < 0xe000)))
			return 0;
		i += more + 1;
	}
	return 1;
}
