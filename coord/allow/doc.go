// Package allow says which addresses a coordinator may call. Targets come from
// whoever may submit transactions, so without rules the coordinator would knock on
// any door inside its network for them.
//
//	rules, err := allow.Parse("https://*.example.com", "http://127.0.0.1:*", "10.0.0.0/8")
//
// A rule is one of
//
//	10.0.0.0/8, 127.0.0.1, ::1  addresses, and names that resolve to them
//	pay.example.com             a host, every port
//	pay.example.com:8080        a host, one port
//	*.example.com               every host below a domain
//	https://pay.example.com     one scheme: http, https, grpc or grpcs. The port is
//	                            the scheme's, if it has one; :* is every port
//	*                           everything but what is said below
//
// Rules are asked twice: by Check when a target is submitted, and by Dial about the
// address its name has resolved to, so that a name cannot turn into another address
// in between. Nothing is sent, not even a SYN, before the second answer.
//
// Whatever the rules, these are refused:
//
//   - link-local, multicast, unspecified and reserved addresses, and those where
//     clouds keep their metadata, unless a rule names an address or a network wholly
//     inside such a range (0.0.0.0/0 is not);
//   - IPv4 addresses dressed up as IPv6, unless a rule names the address;
//   - names that lead to the loopback, except localhost, and except by the rule *;
//   - the port of this machine that was given to Except, which is the server's own;
//   - users and passwords in a target, and hosts in any but their standard form.
package allow
