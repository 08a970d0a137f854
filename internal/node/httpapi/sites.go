package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Names are by which a port may be called, beside localhost, loopback addresses and the address that a
// connection came to. A port in them does not count.
type Names []string

// Check refuses what a web page of another site makes a browser send: requests for a name that was made to
// resolve to this address (DNS rebinding), recognised by their Host, and requests from another site,
// recognised by Sec-Fetch-Site and Origin. Their method does not matter: such a page may not see what is shown,
// nor measure how long it takes. Programs pass, since they send neither header. All calls that show bids, spends or
// data, or change something, are checked; access.Rule.AnySite names those that are not. Errors: Forbidden, WrongHost.
func (n Names) Check(r *http.Request) error {
	if host := hostOf(r.Host); !n.has(host, r) {
		return WrongHost("this port does not answer to the name %q; use its address, or add the name to admin_hosts", host)
	}
	if isLink(r) {
		return nil
	}
	asked := *r
	asked.Method = http.MethodPost // the library lets every GET pass, since it guards only changes
	if new(http.CrossOriginProtection).Check(&asked) != nil {
		return Forbidden("%s was sent by a page of another site (%s) and is refused", r.URL.Path, r.Header.Get("Origin"))
	}
	return nil
}

// consolePages are the paths of pages for people.
const consolePages = "/console/"

// isLink reports whether a link to a page of the console was followed: the linking page does not see the
// answer.
func isLink(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, consolePages) && r.Header.Get("Origin") == "" &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// has reports whether host is a name of the port to which a request came.
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
