// Package pagetest checks pages of adbench in tests.
package pagetest

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"
)

// Check checks that a page is well-formed and self-contained, has a verdict above
// its first table, is made for phones and dark rooms, and names the command and
// commit that made it. It returns the page's title.
func Check(t testing.TB, text string) (title string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	inTitle := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			loadsNothing(t, e)
			if e.Name.Local == "title" && title == "" {
				inTitle++
			}
		case xml.CharData:
			if inTitle == 1 {
				title = string(e)
			}
		case xml.EndElement:
			inTitle = 0
		}
	}
	verdict, table := strings.Index(text, `class="verdict"`), strings.Index(text, "<table>")
	if verdict < 0 || table >= 0 && table < verdict {
		t.Error("the page has no verdict above its tables")
	}
	for _, want := range []string{`name="viewport"`, "prefers-color-scheme: dark", `class="made"><code>`, `name="measured" content="commit `} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, never := range []string{"NaN", "Inf<", "http://127"} {
		if strings.Contains(text, never) {
			t.Errorf("the page has %s", never)
		}
	}
	// Thousands are grouped: no cell or label has a longer run of digits.
	if ungrouped := regexp.MustCompile(`<(?:td|text)[^>]*>[0-9]{4,}<`).FindString(text); ungrouped != "" {
		t.Errorf("a number without groups: %s", ungrouped)
	}
	return title
}

// loadsNothing reports elements that load anything besides the page as errors.
func loadsNothing(t testing.TB, e xml.StartElement) {
	t.Helper()
	switch e.Name.Local {
	case "script", "img", "link", "iframe":
		t.Errorf("<%s> asks for more", e.Name.Local)
	}
	for _, a := range e.Attr {
		if a.Name.Local == "src" || a.Name.Local == "href" {
			t.Errorf("<%s %s=%q> asks for more", e.Name.Local, a.Name.Local, a.Value)
		}
	}
}
