package targeting

import (
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	for in, want := range map[string]string{
		"example.com": "example.com", "WWW.Example.COM.": "example.com", "www.com": "www.com", "www.www.com": "www.com",
		"bücher.example": "xn--bcher-kva.example", "faß.example": "xn--fa-hia.example", "xn--fa-hia.example": "xn--fa-hia.example",
		"localhost": "localhost", "a_b.example": "a_b.example", "-a.example": "-a.example", "ab--c.example": "ab--c.example",
		"example。com": "example.com",
		// refused
		"": "", ".": "", "a..b": "", ".a": "", "a b": "", "a:80": "", "a/b": "", "xn--a.example": "", "xn--Ü.example": "",
		"a.xn--": "", "xn--": "", "a.xn--.example": "", "\u0301a.example": "", "xn--a-xbb.example": "", "a.\u00ad": "a",
		strings.Repeat("a", 64) + ".example": "", strings.Repeat("a.", 126) + "ab": "", "exa\u0000mple": "", "a@b": "", "*.example": "",
	} {
		if got, err := Host(in); got != want || (err == nil) != (want != "") {
			t.Errorf("Host(%q) = %q, %v, want %q", in, got, err, want)
		}
	}
}

func TestURLHost(t *testing.T) {
	for in, want := range map[string]string{
		"https://www.shop.example/x": "shop.example", "http://u:p@a.example:8080/": "a.example", "https://a.example?x": "a.example",
		"https://a.example#x": "a.example", `https://a.example\@b.example`: "a.example", "https://a@b@c.example": "c.example",
		"https:///x": "", "shop.example": "", "https://a b/": "", "https://[::1]/": "",
	} {
		if got, ok := URLHost(in); got != want || ok != (want != "") {
			t.Errorf("URLHost(%q) = %q, %v, want %q", in, got, ok, want)
		}
	}
}

func TestParsePage(t *testing.T) {
	for in, want := range map[string]string{
		"example.com/cameras/": "example.com/cameras", "example.com/": "example.com", "example.com/%7euser": "example.com/~user",
		"example.com/c%2fd": "example.com/c%2Fd", "example.com/a:b@c": "example.com/a:b@c", "example.com//": "example.com//",
		"https://example.com": "", "example.com:80": "", "u@example.com": "", "example.com/?x": "", "example.com/a#b": "",
		`example.com\a`: "", "example.com/a b": "", "example.com/%zz": "", "example.com/%4": "", "": "", "/x": "",
	} {
		p, err := ParsePage(in)
		if p.String() != want || (err == nil) != (want != "") {
			t.Errorf("ParsePage(%q) = %q, %v, want %q", in, p, err, want)
		}
	}
}

// TestWrittenHosts: Host reads a written host as that host, even if it began with www. twice.
func TestWrittenHosts(t *testing.T) {
	for _, in := range []string{"a.example", "www.a", "www.www.a", "www.www.a.example", "www.www.www.a.example"} {
		h, err := Host(in)
		if again, err2 := Host(WrittenHost(h)); err != nil || err2 != nil || again != h {
			t.Errorf("%s is %s, then %s", in, h, again)
		}
	}
}
