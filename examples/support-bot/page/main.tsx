import { useMemo, useState } from "react";
import { createRoot } from "react-dom/client";

import { Chat } from "./chat.tsx";
import { connect } from "./client.ts";
import { Inbox } from "./inbox.tsx";

/** The users of src/auth.ts. A real page has a sign-in of your identity provider here. */
const USERS = { ada: "customer", bob: "customer", sam: "staff" };
type User = keyof typeof USERS;

const saved = (key: string) => sessionStorage.getItem(key);

function Page() {
  const [user, setUser] = useState(saved("user") as User | null);
  if (user === null || !(user in USERS)) {
    return (
      <p>
        Sign in as{" "}
        {(Object.keys(USERS) as User[]).map((name) => (
          <button
            key={name}
            onClick={() => {
              sessionStorage.setItem("user", name);
              setUser(name);
            }}
          >
            {name} ({USERS[name]})
          </button>
        ))}
      </p>
    );
  }
  return <Signed user={user} />;
}

function Signed({ user }: { user: User }) {
  const client = useMemo(() => connect(`token-of-${user}`), [user]);
  const [threadId, setThreadId] = useState(saved("thread"));
  /** A new one loads the conversation again. */
  const [version, setVersion] = useState(0);
  const keepThread = (id: string) => {
    sessionStorage.setItem("thread", id);
    setThreadId(id);
  };
  const leave = () => {
    sessionStorage.clear();
    location.reload();
  };
  const startNew = () => {
    sessionStorage.removeItem("thread");
    setThreadId(null);
    setVersion((last) => last + 1);
  };
  return (
    <>
      <h1>{USERS[user] === "staff" ? "Questions" : "Support"}</h1>
      <p>
        Signed in as {user}. <button onClick={leave}>Sign out</button>{" "}
        {USERS[user] === "customer" && <button onClick={startNew}>New conversation</button>}
      </p>
      {USERS[user] === "staff" ? (
        <Inbox client={client} />
      ) : (
        <Chat
          key={version}
          client={client}
          threadId={threadId}
          onThread={keepThread}
          onAnswered={() => setVersion((last) => last + 1)}
        />
      )}
    </>
  );
}

createRoot(document.getElementById("root")!).render(<Page />);
