package console_test

import (
	"context"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"adshard/backend"
	"adshard/internal/node/admin"
	"adshard/search"
)

// rich is shop with amounts that a page must neither round nor shorten.
func rich() string {
	return strings.NewReplacer("450000", "2500000", "1234567", "1431112").Replace(shop)
}

// TestMoneyIsExact: every page writes amounts in units, with all their digits and at least two decimals.
func TestMoneyIsExact(t *testing.T) {
	_, with := fill(t, rich(), nil)
	p := newPort(t, false, with, func(c *admin.Config) {
		c.Data.ShowSpend(func(context.Context, backend.Snapshot, []*backend.Campaign) map[uint64]uint64 {
			return map[uint64]uint64{1: 7_000_001, 2: 30_000_000}
		})
	})
	p.found.hits = []search.Hit{hit(1, 1, 3_000_000), hit(2, 2, 1_431_112)}
	p.found.matches = []search.Explained{match(p.found.hits[0], 0), match(p.found.hits[1], 0)}
	p.found.matches[1].Bid, p.found.matches[1].Effective = 1_431_112, 1_431_112
	b := &browser{t: t, port: p}
	const file = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC\nČapek <& Söhne>,Cables,USB,usb cable,Broad,0.75\n"
	shown := map[string]string{"import": b.upload(file, nil).Body.String()}
	for path, exact := range map[string][]string{
		"/console/overview": nil, "/console/balancing": nil, "/console/slices": nil, "/console/slices/5": nil, "/console/data": nil, "/console/import": nil,
		"/console/data/advertisers/1": {">120.50<", ">7.000001<", ">30.00<"}, "/console/data/campaigns/1": {">120.50<", "7.000001", ">2.50<", `value="120.50"`},
		"/console/data/groups/1": {">2.50<", ">1.431112<", `value="1.431112"`},
		"/console/query?q=usb":   {"1.431112 a click", "0.01 a click", ">1.431112<", ">2.00<", `data-l="Price" class="n">1.431112<`},
		"import":                 {"<del>1.431112</del> → <ins>0.75</ins>"},
	} {
		if shown[path] == "" {
			shown[path] = b.get(path).Body.String()
		}
		for _, text := range exact {
			if !strings.Contains(shown[path], text) {
				t.Errorf("%s: %q is not in\n%s", path, text, shown[path])
			}
		}
	}
	wrong := regexp.MustCompile(`[^0-9.,](120\.5|7\.0{2,5}|2\.5|1\.43\d{0,3}|120500000|7000001|30000000|2500000|1431112|120,500,000|7,000,001|30,000,000|2,500,000|1,431,112)[^0-9.,]`)
	for path, text := range shown {
		for _, found := range wrong.FindAllString(text, -1) {
			t.Errorf("%s has the amount %q", path, found)
		}
	}
}

// TestCurrency: amounts have the currency of the configuration, except where a form expects them without.
func TestCurrency(t *testing.T) {
	_, with := fill(t, rich(), nil)
	b := &browser{t: t, port: newPort(t, false, with, func(c *admin.Config) { c.Currency = "CZK" })}
	w := b.get("/console/data/groups/1")
	has(t, w, 200, ">2.50 CZK<", ">1.431112 CZK<", `value="1.431112"`)
	lacks(t, w, "in the currency of the data")
	has(t, b.get("/console/query?q=usb"), 200, "2.00 CZK a click")
}

// TestTemplatesFormatMicros: a template writes a field in micros with the function for amounts or the one for times, never as it is.
func TestTemplatesFormatMicros(t *testing.T) {
	field := regexp.MustCompile(`\.\w*Micros\b`)
	right := regexp.MustCompile(`\{\{(with [$.\w]*Micros\}\}[^{]*(\{\{if[^}]*\}\}[^{]*)?\{\{(money|amount|millis) |(money|amount|millis|late) [$.\w]*Micros|(else )?if [$.\w]*Micros)`)
	names, err := fs.Glob(os.DirFS("templates"), "*.html")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text, err := os.ReadFile("templates/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if n, ok := len(field.FindAllString(line, -1)), len(right.FindAllString(line, -1)); n != ok {
				t.Errorf("%s: %d of %d fields in micros are formatted:\n%s", name, ok, n, line)
			}
		}
	}
}
