import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { listMemberGroupsOptions, listMembersOptions } from '../api/@tanstack/react-query.gen';
import { endMemberSessions } from '../api/sdk.gen';
import type { Member, MemberGroup } from '../api/types.gen';
import { Confirm } from '../components/confirm';
import { SearchBox } from '../components/page';
import { type Column, Table } from '../components/table';
import { Badge } from '../components/ui/badge';
import { Button } from '../components/ui/button';
import { Card } from '../components/ui/card';
import { When } from '../components/when';
import { useListSearch } from '../lib/list-search';
import { useLogin } from '../lib/login-context';
import { refreshEvery } from '../lib/reach';

const REFRESH_MS = 15_000;

/** Who is logged in without a key, and the groups that let people in. */
export function Members() {
  const { caller, may } = useLogin();
  const list = useListSearch();
  const { search } = list;
  // Another search begins at the first page.
  const [shown, setShown] = useState({ search, page: 0 });
  const groupPage = shown.search === search ? shown.page : 0;
  const [leaving, setLeaving] = useState<Member>();
  const members = useQuery({
    ...listMembersOptions({ query: list.paging }),
    refetchInterval: refreshEvery(REFRESH_MS),
    placeholderData: (previous) => previous,
  });
  const groups = useQuery({
    ...listMemberGroupsOptions({ query: { ...list.paging, current_page: groupPage } }),
    placeholderData: (previous) => previous,
  });
  return (
    <>
      <SearchBox value={search ?? ''} onSearch={list.onSearch} />
      <Card title="People who are logged in">
        <Table
          caption="People who are logged in"
          columns={may('api_keys.delete') ? [...COLUMNS, logOutColumn(caller.id, setLeaving)] : COLUMNS}
          query={members}
          keyOf={({ id }) => id}
          empty="No person is logged in here. People log in at the identity provider of ADMIN_OIDC_ISSUER; keys are on their own page."
          page={list.page}
          onPage={list.onPage}
          csv={{ path: '/v1/members', query: { search } }}
        />
        {leaving !== undefined && <LogOut member={leaving} onClose={() => setLeaving(undefined)} />}
      </Card>
      <Card title="Groups that may log in">
        <Table
          caption="Groups that may log in"
          columns={GROUP_COLUMNS}
          query={groups}
          keyOf={({ group, role, workspace }) => `${group} ${role} ${workspace}`}
          empty="No such group of an identity provider has a role here. The setting ADMIN_OIDC_ROLES gives roles to groups."
          page={groupPage}
          onPage={(next) => setShown({ search, page: next })}
        />
      </Card>
    </>
  );
}

function LogOut({
  member: { id, name, sessions },
  onClose,
}: {
  readonly member: Member;
  readonly onClose: () => void;
}) {
  const end = async (): Promise<void> => {
    await endMemberSessions({ path: { member_id: id }, throwOnError: true });
  };
  return (
    <Confirm title={`Log out ${name ?? id}`} action="Log out" onConfirm={end} onClose={onClose}>
      <p>
        {sessions === 1 ? 'The browser' : `All ${sessions} browsers`} of this person must log in again within ten
        seconds. Keys go on working.
      </p>
      <p>
        Who is still in a group below can log in again. To keep a person out, take them out of the group at the identity
        provider first.
      </p>
    </Confirm>
  );
}

/** @param ownId of the person who looks, who logs out elsewhere */
function logOutColumn(ownId: string, onLogOut: (member: Member) => void): Column<Member> {
  return {
    title: 'Actions',
    kind: 'short',
    cell: (member) =>
      member.id === ownId ? (
        <Badge>you</Badge>
      ) : (
        <Button size="small" aria-label={`Log out ${member.name ?? member.id}`} onClick={() => onLogOut(member)}>
          Log out
        </Button>
      ),
  };
}

const COLUMNS: readonly Column<Member>[] = [
  {
    title: 'Person',
    cell: ({ id, name }) => (
      <>
        <span className="font-medium wrap-anywhere">{name ?? id}</span>
        {name !== null && <p className="font-mono text-xs wrap-anywhere text-muted">{id}</p>}
      </>
    ),
  },
  {
    title: 'Roles',
    cell: ({ roles }) =>
      roles.length === 0 ? (
        <span className="text-muted">those of a token</span>
      ) : (
        <ul>
          {roles.map(({ role, workspace }) => (
            <li key={`${role} ${workspace}`}>
              {role} <span className="text-muted">of {workspace ?? 'the organisation'}</span>
            </li>
          ))}
        </ul>
      ),
  },
  { title: 'Browsers', align: 'right', isExtra: true, cell: ({ sessions }) => sessions },
  {
    title: 'Last log-in',
    kind: 'short',
    cell: ({ last_login_at: at }) => <When at={at} />,
  },
  {
    title: 'Logged in until',
    kind: 'short',
    isExtra: true,
    cell: ({ expires_at: at }) => <When at={at} />,
  },
];

const GROUP_COLUMNS: readonly Column<MemberGroup>[] = [
  { title: 'Group', cell: ({ group }) => <span className="font-medium wrap-anywhere">{group}</span> },
  { title: 'Role', cell: ({ role }) => role },
  { title: 'In', cell: ({ workspace }) => workspace ?? 'the organisation' },
];
