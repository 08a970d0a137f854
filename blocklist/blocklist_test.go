package blocklist

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"adshard/fault"
)

func TestNormalise(t *testing.T) {
	l := List{Advertisers: []uint64{3, 1, 3}, Domains: []string{"www.TRŽIŠTĚ.example.cz", "example.com.", "example.com"}, Categories: []string{"b", "alcohol/wine", "b"}}
	if err := l.Normalise(); err != nil {
		t.Fatal(err)
	}
	want := List{Advertisers: []uint64{1, 3}, Domains: []string{"example.com", "xn--trit-jwa23bpg.example.cz"}, Categories: []string{"alcohol/wine", "b"}}
	if !reflect.DeepEqual(l, want) {
		t.Errorf("%+v", l)
	}
	for field, bad := range map[string]List{
		FieldAdvertisers: {Advertisers: []uint64{0}}, FieldDomains: {Domains: []string{"example.com/path"}}, FieldCategories: {Categories: []string{"A"}},
	} {
		err := bad.Normalise()
		if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, name := range []string{"", "A", "a b", strings.Repeat("a", 65), "ž", "a/b"} {
		if !fault.Is(CheckName(name), fault.Invalid) {
			t.Errorf("the name %q", name)
		}
	}
	if err := CheckName("a.b_c-0" + strings.Repeat("9", 57)); err != nil {
		t.Error(err)
	}
}

// TestWrittenDomains: the domains of a list survive being written and read, even a host that began with www. twice.
func TestWrittenDomains(t *testing.T) {
	l := List{Domains: []string{"www.www.a.example", "b.example"}}
	if err := l.Normalise(); err != nil {
		t.Fatal(err)
	}
	again := List{Domains: l.WrittenDomains()}
	if err := again.Normalise(); err != nil || !reflect.DeepEqual(again, l) {
		t.Errorf("%q is written as %q, and read as %q, %v", l.Domains, l.WrittenDomains(), again.Domains, err)
	}
	if err := again.Order(); err != nil || !reflect.DeepEqual(again, l) {
		t.Errorf("put in order, it is %q", again.Domains)
	}
}

func TestText(t *testing.T) {
	for _, l := range []List{
		{}, {Uncategorised: true}, {Advertisers: []uint64{1, 1<<64 - 1}, Domains: []string{"a.example", "b.example"}, Categories: []string{"c/d"}, Uncategorised: true},
	} {
		got, err := Parse(l.Text())
		if err != nil || !reflect.DeepEqual(*got, l) {
			t.Errorf("%+v, %v, not %+v", got, err, l)
		}
	}
	for _, damaged := range []string{"x", "\n", "domain\n", "domain\t\n", "domain\ta", "advertiser\tx\n", "host\ta\n", "uncategorised", "uncategorised\nuncategorised\n",
		"domain\tb\ndomain\ta\n", "domain\ta\ndomain\ta\n", "advertiser\t2\nadvertiser\t1\n", "advertiser\t1\nadvertiser\t1\n", "category\ta\ndomain\ta\n",
		"domain\ta\nadvertiser\t1\n", "uncategorised\ndomain\ta\n", "advertiser\t1"} {
		if _, err := Parse(damaged); !fault.Is(err, fault.Corrupt) {
			t.Errorf("%q: %v", damaged, err)
		}
	}
}

// TestLargeList: a list of a million entries is accepted, one with more is not.
func TestLargeList(t *testing.T) {
	l := List{Advertisers: []uint64{1}}
	for i := range MaxEntries - 1 {
		l.Domains = append(l.Domains, fmt.Sprintf("host-%d.example", i))
	}
	if err := l.Normalise(); err != nil {
		t.Fatal(err)
	}
	got, err := Parse(l.Text())
	if err != nil || got.Entries() != MaxEntries {
		t.Fatal(err)
	}
	if b := got.Blocks(); b.Domains.Len() != MaxEntries-1 || b.Advertisers.Len() != 1 {
		t.Errorf("%d domains", b.Domains.Len())
	}
	l.Categories = []string{"c"}
	if err := l.Normalise(); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
	if _, err := Parse(l.Text()); !fault.Is(err, fault.Corrupt) {
		t.Error(err)
	}
}
