package zklock

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/bedrock-go/bedrock/lock/driver"
)

// The permissions of ZooKeeper by name. To create and delete are permissions on the folder.
const (
	mayRead   = "read"
	mayWrite  = "write"
	mayCreate = "create"
	mayDelete = "delete"
)

// lacking names the permission that a request has failed for, and where: the servers say neither.
func lacking(permission, path string, err error) error {
	if !errors.Is(err, zk.ErrNoAuth) {
		return err
	}
	return fmt.Errorf("%w: it takes the permission %s on %s", err, permission, path)
}

// above is the folder that a path is in.
func above(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 1)] }

// checkFolderName is what a folder below the root would be called that is never made. No name is escaped so.
const checkFolderName = "%check"

// checkRights tells why no lock can be taken, or none be listed.
func (b *backend) checkRights() ([]driver.Finding, error) {
	base := b.layout.base
	missing, err := b.missingFolders(base)
	if err != nil {
		return nil, err
	}
	var findings []driver.Finding
	if len(missing) == 0 {
		_, _, err := b.conn.library().Get(base)
		if errors.Is(err, zk.ErrNoAuth) {
			findings = append(findings, driver.Finding{
				Level: driver.Notice, What: describeLack(mayRead, base), Means: "locks cannot be listed",
			})
		} else if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
	}
	refusal, err := b.rehearse(append(missing, base+"/"+checkFolderName))
	if refusal != "" {
		findings = append(findings, driver.Finding{
			Level: driver.Danger, What: refusal,
			Means: "no lock is had here; the ACL of the folder says who may do what",
		})
	}
	return findings, err
}

// describeLack is the finding that a permission is missing.
func describeLack(permission, path string) string {
	return fmt.Sprintf("the permission %s is missing on %s", permission, path)
}

// missingFolders returns which folders down to a path are not there, the highest first.
func (b *backend) missingFolders(path string) (missing []string, err error) {
	for ; path != "/"; path = above(path) {
		there, _, err := b.conn.library().Exists(path)
		if err != nil {
			return nil, err
		}
		if there {
			break
		}
		missing = append([]string{path}, missing...)
	}
	return missing, nil
}

// rehearse has a lock made and deleted in folders that are made for it, and says what the servers refuse of that; "" if
// nothing. They take all steps or none, and the last one always fails: it deletes once more.
func (b *backend) rehearse(folders []string) (refusal string, err error) {
	var steps []any
	var lacks []string // by step
	last := folders[len(folders)-1]
	node := last + "/" + lockWord
	for _, path := range append(folders, node) {
		steps = append(steps, &zk.CreateRequest{Path: path, Acl: b.conn.acl})
		lacks = append(lacks, describeLack(mayCreate, above(path)))
	}
	for range 2 {
		steps = append(steps, &zk.DeleteRequest{Path: node, Version: -1})
		lacks = append(lacks, describeLack(mayDelete, last))
	}
	made, err := b.conn.library().Multi(steps...)
	switch {
	case errors.Is(err, zk.ErrNoAuth):
		for i, m := range made {
			if errors.Is(m.Error, zk.ErrNoAuth) {
				return lacks[i], nil
			}
		}
		return err.Error(), nil
	case errors.Is(classOf(err), driver.ErrRefused):
		return "the servers refuse nodes as they are made here: " + err.Error(), nil
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNodeExists): // it is the last step, or somebody was there
		return "", nil
	}
	return "", err
}
