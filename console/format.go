package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/bedrock-go/bedrock/txn"
)

// templateFuncs are the functions of the templates.
func templateFuncs() template.FuncMap {
	return template.FuncMap{
		"title": title, "moment": moment, "stamp": stamp, "tone": tone, "answerTone": answerTone, "grouped": grouped,
		"lockHref": lockHref,
	}
}

// statuses lists the states in the order people ask about them.
func statuses() []txn.Status {
	return []txn.Status{
		txn.InDoubt, txn.Open, txn.Running, txn.Committing, txn.RollingBack, txn.Committed, txn.RolledBack,
	}
}

// tone is the colour of a state. Every state is written out, too.
func tone(s txn.Status) string {
	switch s {
	case txn.Committed:
		return "good"
	case txn.RolledBack:
		return "back"
	case txn.RollingBack:
		return "turning"
	case txn.InDoubt:
		return "bad"
	default:
		return "busy"
	}
}

// answerTone is the colour of what a participant answered.
func answerTone(answer string) string {
	switch answer {
	case "done", "skipped":
		return "good"
	case "refused":
		return "back"
	case "pending", "held":
		return "busy"
	case "failed", "unreached", "unsure":
		return "bad"
	default:
		return "person"
	}
}

func title(text string) string {
	text = strings.ReplaceAll(text, "-", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// moment is a time for people, stamp one for machines.
func moment(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.UTC().Format("2006-01-02 15:04:05.000")
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// ago says how long something is past.
func ago(d time.Duration) string {
	if d < time.Second {
		return "now"
	}
	return brief(d) + " ago"
}

// brief is a duration in one or two units.
func brief(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1000)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 24*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%d d %d h", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// grouped writes a number with thin spaces between thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u2009" + text[i:]
	}
	return text
}

// cut shortens a text to some letters.
func cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
