package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Names are the host names of a port, in addition to localhost, loopback addresses and the address to which a
// connection came. Port numbers in them are ignored.
type Names []string

// Check refuses requests that a web page of another site makes a browser send: requests for a name that was made to
// resolve to this address (DNS rebinding), recognized by their Host, and requests from another site, recognized by
// Sec-Fetch-Site and Origin. The method does not matter: such a page must not see the answer, nor measure how long it
// takes. Programs pass, since they send neither of these two headers. All calls are checked that show bids, spends or
// data, or change something; access.Rule.AnySite marks those that are not. Errors: Forbidden, WrongHost.
func (n Names) Check(r *http.Request) error {
	if host := hostOf(r.Host); !n.has(host, r) {
		return WrongHost("this port does not answer to the name %q; use its address, or add the name to admin_hosts", host)
	}
	if isLink(r) {
		return nil
	}
	asked := *r
	asked.Method = http.MethodPost // the library accepts every GET, since it guards only against changes
	if new(http.CrossOriginProtection).Check(&asked) != nil {
		return Forbidden("%s was sent by a page of another site (%s) and is refused", r.URL.Path, r.Header.Get("Origin"))
	}
	return nil
}

// consolePages begins the paths of pages for people.
const consolePages = "/console/"

// isLink reports whether the request follows a link to a page of the console. The page with the link does not see the
// answer.
func isLink(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, consolePages) && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// has reports whether `host` is a name of the port to which a request came.
func (n Names) has(host string, r *http.Request) bool {
	if host == "localhost" || slices.ContainsFunc(n, func(name string) bool { return hostOf(name) == host }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || ok && local.AddrPort().Addr().Unmap() == ip.Unmap()
}

// hostOf returns the name in HOST, HOST:PORT or [HOST]:PORT, in lower case.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
