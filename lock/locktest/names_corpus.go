package locktest

import (
	"strings"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// corpus returns names that stores are tempted to confuse. All are valid.
func corpus() []string {
	return append(long(),
		// Prefixes of one another, and paths.
		"job", "job/", "job//", "job/1", "job/1/", "job/10", "/job", "/job/1", "job/./1", "job/../job", ".", "..", "/",
		"//",
		// Case, and what only looks alike.
		"Job", "JOB", "jоb", "ｊｏｂ", "straße", "strasse", "STRASSE", "ı", "i", "I", "İ",
		"caf\u00e9", "cafe\u0301", "cafe", "\u212b", "\u00c5", "A\u030a", "ﬁ", "fi", "Ω", "\u2126",
		// White space around and within.
		" ", "  ", " job", "job ", " job ", "j ob", "\u00a0job", "job\u2003", "\u200bjob", "\ufeffjob",
		// Hash tags of a Redis cluster.
		"{tag}", "{tag}a", "{tag}b", "{}", "{}tag", "}{", "{", "}", "{{tag}}", "{tag", "tag}", "tag", "a{tag}",
		"{tag}{other}",
		// Keys and channels that lock layouts use.
		"redisson_lock_token:{job}", "redisson_lock_token:job", "redisson_lock__channel:{job}",
		"redisson_unlock_latch:{job}:1",
		"redisson_lock_timeout:{job}", "redisson_lock_queue:{job}", "{job}:token", "{job}:meta", "{job}", "job:token",
		"job:meta",
		// Patterns, numbers, quoting, comments, escapes.
		"*", "?", "job*", "job?", "[job]", "[a-z]", "job[1]", `\`, `job\`, `\*`, "%", "job%", "_", "job_1", "%2f",
		"job%2f1", "job%201",
		"0", "00", "1", "01", "1.0", "1e0", "-1", "+1", "true", "null", "nil", "NaN",
		"'", "''", `"`, "`", "job'", `job"`, "job`", "';--", "'; drop table locks; --", "/* */", "--", "#", "$1",
		"${job}", "<job>", "&amp;",
		"a:b", "a::b", "a.b", "a,b", "a;b", "a=b", "a&b", "a|b", "a@b", "a+b", "~", "^",
		// Scripts of the world.
		"замок", "锁", "鎖", "🔒", "🔒\ufe0f", "👩‍💻", "👩", "שלום", "\u202eboj", "क्षि",
	)
}

// long returns names around the lengths at which stores cut off or hash.
func long() (names []string) {
	for _, n := range []int{63, 64, 65, 127, 128, 191, 192, 193, 254, 255, 256, 511, 512} {
		names = append(names, strings.Repeat("n", n), strings.Repeat("n", n-1)+"m")
	}
	return names
}

// badNames returns names nobody may use, by what is wrong with them.
func badNames() map[string]string {
	return map[string]string{
		"empty":                     "",
		"one byte too long":         strings.Repeat("n", 513),
		"too long in bytes":         strings.Repeat("ü", 257),
		"a megabyte":                strings.Repeat("n", 1<<20),
		"NUL":                       "job\x00",
		"NUL alone":                 "\x00",
		"line feed":                 "job\n",
		"carriage return":           "job\r\nDEL job",
		"tab":                       "job\t1",
		"escape":                    "\x1b[31mjob",
		"delete":                    "job\x7f",
		"control from Latin-1":      "job\u0085",
		"truncated UTF-8":           "job\xc3",
		"overlong UTF-8":            "job\xc0\xaf",
		"surrogate in UTF-8":        "\xed\xa0\x80",
		"byte that is never UTF-8":  "\xff",
		"beyond the end of Unicode": "\xf4\x90\x80\x80",
	}
}

// badOwners are texts that are no owners anywhere.
func badOwners() []string {
	return []string{
		"", "mode", "bedrock:meta", "bedrock:", "line\nbreak", "\x00", "job\u0085", "job\xff",
		"job:write",
		strings.Repeat("o", driver.MaxOwner+1),
	}
}
