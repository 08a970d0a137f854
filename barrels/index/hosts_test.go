package index

import (
	"fmt"
	"slices"
	"testing"

	"adshard/barrels/record"
	"adshard/schema/pb"
)

// TestHostSets: distinct sets have distinct numbers, even if a host is named like the entry for
// a URL without a host.
func TestHostSets(t *testing.T) {
	h, seen := NewHostSets(alone(1<<20)), map[uint32]string{}
	for name, urls := range map[string][]string{
		"one": {"https://a.example/x"}, "another host": {"https://a.example/", "https://refused/"}, "a bad URL": {"https://a.example/", "nonsense"},
		"a third": {"https://a.example", "https://open/"}, "no URL": {"https://a.example", ""}, "both": {"https://a.example", "", "nonsense"},
		"only a bad one": {"nonsense"}, "only none": {""},
	} {
		g := leadingTo(t, urls...)
		n := h.Number(g)
		if was := seen[n]; was != "" || n < hostsFirst {
			t.Errorf("%s has the number %d of %q", name, n, was)
		}
		if seen[n] = name; h.Number(g) != n {
			t.Errorf("%s has two numbers", name)
		}
	}
}

// TestHostSetsAreBounded: the sets stay within their limit; a forgotten set gets another
// number, and no number stands for two sets.
func TestHostSetsAreBounded(t *testing.T) {
	const most = 100_000
	h, given, last := NewHostSets(alone(most)), map[uint32]string{}, uint32(0)
	for i := range 10_000 {
		host := fmt.Sprintf("host-%d.example", i%3000)
		n := h.Number(leadingTo(t, "https://"+host+"/"))
		if was := given[n]; was != "" && was != host {
			t.Fatalf("%d is the number of %s, and was that of %s", n, host, was)
		}
		given[n] = host
		if set := h.Of(n); set == nil || !slices.Equal(set.Hosts, []string{host}) {
			t.Fatalf("%s: %+v", host, set)
		}
		if h.Bytes() == 0 || h.Bytes() > most {
			t.Fatalf("%d bytes", h.Bytes())
		}
		last = max(last, n)
	}
	if h.Of(hostsFirst) != nil || h.Of(last+1) != nil || len(given) < 9000 {
		t.Errorf("forgotten sets are there, or were not forgotten: %d numbers", len(given))
	}
	for _, none := range []uint32{HostsUnknown, HostsByKeyword, HostsOfKeyword} {
		if h.Of(none) != nil {
			t.Errorf("%d has a set", none)
		}
	}
	if n := NewHostSets(alone(100)).Number(leadingTo(t, "https://a.example/")); n != HostsByKeyword {
		t.Errorf("a set that does not fit has the number %d", n)
	}
}

// TestHostSetsInUseStay: a set that is in use keeps its number while others are used once and
// forgotten, and these are not all forgotten together.
func TestHostSetsInUseStay(t *testing.T) {
	const most = 100_000
	h := NewHostSets(alone(most))
	hot := h.Number(leadingTo(t, "https://hot.example/"))
	for i := range 10_000 {
		if set := h.Of(hot); set == nil || !slices.Equal(set.Hosts, []string{"hot.example"}) {
			t.Fatalf("after %d others: %+v", i, set)
		}
		before := h.Bytes()
		h.Of(h.Number(leadingTo(t, fmt.Sprintf("https://host-%d.example/", i))))
		if now := h.Bytes(); now+most/4 < before {
			t.Fatalf("%d bytes of %d went at once", before-now, before)
		}
	}
	if n := h.Number(leadingTo(t, "https://hot.example/")); n != hot {
		t.Errorf("it has the numbers %d and %d", hot, n)
	}
}

// leadingTo returns a group whose ads lead to the URLs.
func leadingTo(t *testing.T, urls ...string) *Group {
	t.Helper()
	stored := new(pb.Group)
	for i, url := range urls {
		stored.Ads = append(stored.Ads, &pb.Ad{Id: uint64(i + 1), Enabled: true, FinalUrl: url})
	}
	value, err := record.Marshal.Marshal(stored)
	if err != nil {
		t.Fatal(err)
	}
	read, err := record.ReadGroup(value)
	if err != nil {
		t.Fatal(err)
	}
	return &Group{Group: read}
}
