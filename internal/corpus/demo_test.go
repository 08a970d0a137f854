package corpus

import (
	"bytes"
	"context"
	"regexp"
	"strings"
	"testing"
)

// odd matches names that no advertiser, campaign or group would have.
var odd = regexp.MustCompile(`(?i)^unknown|^generic|^cpv-|^(cs|en)$| r?\d+$|^[^\pL\d"']`)

// numbers matches keywords that have no word.
var numbers = regexp.MustCompile(`^[\d. -]*\pL?( \pL)*$`)

// TestDemoNames: in a demo each name is one that a reader would believe, each group is named once in its campaign, and titles are those
// of the catalogues.
func TestDemoNames(t *testing.T) {
	c := open(t)
	titles := make(map[string]bool)
	for i := range c.items {
		titles[clip(c.items[i].title, 80)] = true
	}
	groups, accounts := make(map[string]bool), make(map[string]bool)
	again := regexp.MustCompile(` \(\d+\)$`) // a title that a campaign has twice
	for g, err := range c.Groups(context.Background(), demo()) {
		if err != nil {
			t.Fatal(err)
		}
		accounts[g.Advertiser] = true
		for _, name := range []string{g.Advertiser, g.Campaign} {
			if odd.MatchString(name) {
				t.Errorf("%q of %q", name, g.Advertiser)
			}
		}
		name := again.ReplaceAllString(g.Name, "")
		if path := g.Advertiser + "\t" + g.Campaign + "\t" + g.Name; groups[path] || !titles[name] && !titles[g.Name] {
			t.Errorf("group %q", path)
		} else {
			groups[path] = true
		}
		for _, k := range g.Keywords {
			if numbers.MatchString(k.Text) {
				t.Errorf("keyword %q of %q", k.Text, g.Name)
			}
		}
	}
	if len(accounts) < 500 {
		t.Errorf("%d advertisers", len(accounts))
	}
}

// TestDemoQueries: queries of a demo begin as a title does, or are real ones.
func TestDemoQueries(t *testing.T) {
	c := open(t)
	var begins strings.Builder
	for i := range c.items {
		begins.WriteString("\n" + strings.ToLower(strings.Join(tokensOf(c.items[i].title), " ")))
	}
	logs, err := c.Logs()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range logs {
		begins.WriteString("\n" + strings.Join(l.Texts, "\n"))
	}
	o := demo()
	o.Queries = 2000
	var out bytes.Buffer
	if n, err := c.WriteQueries(&out, o); err != nil || n != o.Queries {
		t.Fatal(n, err)
	}
	other := 0
	for query := range strings.Lines(out.String()) {
		if !strings.Contains(begins.String(), "\n"+strings.TrimSuffix(query, "\n")) {
			other++ // with words around, such as cheap
		}
	}
	if other == 0 || other > o.Queries/5 {
		t.Errorf("%d of %d queries are neither real nor the beginning of a title", other, o.Queries)
	}
}
