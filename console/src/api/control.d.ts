/** What the control server's OpenAPI document says. Written by scripts/console-api.ts. */
export interface paths {
    "/v2/deployments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deployments; an exact match of the name comes first, then the newest */
        get: operations["get_v2_deployments"];
        put?: never;
        /** Create a deployment, and its first revision if there is something to deploy */
        post: operations["post_v2_deployments"];
        /** Delete several deployments; 207 lists those that could not be deleted */
        delete: operations["delete_v2_deployments"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/free-count": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Count the workspace's deployments */
        get: operations["get_v2_deployments_free_count"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a deployment */
        get: operations["get_v2_deployments_deployment_id"];
        put?: never;
        post?: never;
        /** Delete a deployment: its instances, database, builds, logs and records */
        delete: operations["delete_v2_deployments_deployment_id"];
        options?: never;
        head?: never;
        /** Update a deployment; a change of its source or environment creates one new revision */
        patch: operations["patch_v2_deployments_deployment_id"];
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/push-token": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Issue a token for pushing images */
        post: operations["post_v2_deployments_deployment_id_push_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List revisions, the newest first */
        get: operations["get_v2_deployments_deployment_id_revisions"];
        put?: never;
        /** Create a revision, even without a change */
        post: operations["post_v2_deployments_deployment_id_revisions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/revisions/{revision_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a revision and its progress */
        get: operations["get_v2_deployments_deployment_id_revisions_revision_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/revisions/{revision_id}/redeploy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a new revision from an older one, without a build if the old build still exists */
        post: operations["post_v2_deployments_deployment_id_revisions_revision_id_redeploy"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/revisions/{revision_id}/interruption": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Interrupt a revision */
        post: operations["post_v2_deployments_deployment_id_revisions_revision_id_interruption"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/upload-url": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create an upload URL for the project's archive, and its source_tarball_path */
        post: operations["post_v2_deployments_deployment_id_upload_url"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/uploads/tarballs/{tenant_id}/{deployment_id}/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Upload a gzipped tar archive */
        put: operations["put_uploads_tarballs_tenant_id_deployment_id_file"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{deployment_id}/revisions/{revision_id}/build_logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List log lines of the build of a revision */
        post: operations["post_v1_projects_deployment_id_revisions_revision_id_build_logs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{deployment_id}/revisions/{revision_id}/deploy_logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List log lines of the deployment of a revision */
        post: operations["post_v1_projects_deployment_id_revisions_revision_id_deploy_logs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{deployment_id}/deploy_logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List log lines of the deployment */
        post: operations["post_v1_projects_deployment_id_deploy_logs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/projects/{deployment_id}/build_logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** List log lines of the build */
        post: operations["post_v1_projects_deployment_id_build_logs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/revisions/{revision_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List log lines of a revision's build or deployment */
        get: operations["get_v2_deployments_deployment_id_revisions_revision_id_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List log lines of all revisions of a deployment */
        get: operations["get_v2_deployments_deployment_id_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployment-logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List log lines of a deployment page by page */
        get: operations["get_v2_deployment_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/deployments/{deployment_id}/instances": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a deployment's agent servers, running ones first, with their memory and CPU time */
        get: operations["get_v2_deployments_deployment_id_instances"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/github/install": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the workspace's integrations */
        get: operations["get_v1_integrations_github_install"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/integrations/github/{integration_id}/repos": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the repositories that an integration's token can read */
        get: operations["get_v1_integrations_github_integration_id_repos"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/integrations/github/installation-link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the page that explains how to create an integration: with a token and a POST request, not by installing an app */
        post: operations["post_v2_integrations_github_installation_link"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/integrations/git": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List integrations, the newest first */
        get: operations["get_v2_integrations_git"];
        put?: never;
        /** Create an integration: a token for the repositories of a Git host, and the secret of its webhooks */
        post: operations["post_v2_integrations_git"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/integrations/git/{integration_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an integration */
        get: operations["get_v2_integrations_git_integration_id"];
        put?: never;
        post?: never;
        /** Delete an integration that no deployment uses */
        delete: operations["delete_v2_integrations_git_integration_id"];
        options?: never;
        head?: never;
        /** Update an integration: its name, token or webhook secret */
        patch: operations["patch_v2_integrations_git_integration_id"];
        trace?: never;
    };
    "/webhooks/github/{integration_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Receive a push webhook of GitHub or Gitea */
        post: operations["post_webhooks_github_integration_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/webhooks/gitlab/{integration_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Receive a push webhook of GitLab */
        post: operations["post_webhooks_gitlab_integration_id"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/listeners": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List listeners, the newest first */
        get: operations["get_v2_listeners"];
        put?: never;
        /** Create a listener */
        post: operations["post_v2_listeners"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v2/listeners/{listener_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a listener */
        get: operations["get_v2_listeners_listener_id"];
        put?: never;
        post?: never;
        /** Delete a listener */
        delete: operations["delete_v2_listeners_listener_id"];
        options?: never;
        head?: never;
        /** Update a listener */
        patch: operations["patch_v2_listeners_listener_id"];
        trace?: never;
    };
    "/internal/auth/self": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the workspace of the calling server's key */
        get: operations["get_internal_auth_self"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/internal/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Get the permissions of keys in the calling server's workspace */
        post: operations["post_internal_auth_keys"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/internal/auth/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Wait until the permissions of keys may have changed */
        get: operations["get_internal_auth_changes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ok": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check liveness: fails when a component has failed for longer than the grace period */
        get: operations["get_ok"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check readiness: the server and all its dependencies */
        get: operations["get_ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the version and capabilities of this server */
        get: operations["get_info"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/o/{tenant_id}/host/deployments/{deployment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Redirect to a deployment's page in the console */
        get: operations["get_o_tenant_id_host_deployments_deployment_id"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["get_openapi_json"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the OpenAPI document as a page */
        get: operations["get_docs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get metrics for monitoring */
        get: operations["get_metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the server's name, version and links */
        get: operations["get_"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Deployment: {
            id: string;
            tenant_id: string;
            name: string;
            display_name: string | null;
            /** @enum {string} */
            source: "github" | "external_docker" | "internal_docker" | "internal_source" | "internal_template";
            source_config: components["schemas"]["SourceConfigOut"];
            source_revision_config: components["schemas"]["SourceRevisionConfigOut"];
            secrets: {
                name: string;
                value: string;
            }[];
            secret_references: {
                name: string;
                secret_name: string;
                secret_key: string;
            }[] | null;
            created_at: string;
            updated_at: string;
            /** @enum {string} */
            status: "AWAITING_DATABASE" | "READY" | "UNUSED" | "AWAITING_DELETE" | "UNKNOWN";
            latest_revision_id: string | null;
            active_revision_id: string | null;
            image_version: string | null;
            is_preview: boolean;
        };
        SourceConfigOut: {
            integration_id: string | null;
            repo_url: string | null;
            deployment_type: string | null;
            build_on_push: boolean | null;
            /** @description URL of the deployment */
            custom_url: string | null;
            resource_spec: {
                [key: string]: unknown;
            } | null;
            listener_id: string | null;
            listener_config: {
                [key: string]: unknown;
            } | null;
            install_command: string | null;
            build_command: string | null;
            template_id: string | null;
            repo_branch: string | null;
        };
        SourceRevisionConfigOut: {
            repo_ref: string | null;
            langgraph_config_path: string | null;
            /** @description Alias of langgraph_config_path */
            graph_config_path: string | null;
            image_uri: string | null;
            source_tarball_path: string | null;
            repo_commit_sha: string | null;
        };
        SourceConfig: {
            integration_id?: string | null;
            repo_url?: string | null;
            deployment_type?: ("dev_free" | "dev" | "prod" | "dev_zero" | "dev_free_zero") | null;
            build_on_push?: boolean | null;
            custom_url?: string | null;
            resource_spec?: components["schemas"]["ResourceSpec"] | null;
            listener_id?: string | null;
            listener_config?: ({
                k8s_namespace?: string | null;
            } & {
                [key: string]: unknown;
            }) | null;
            install_command?: string | null;
            build_command?: string | null;
            template_id?: string | null;
            repo_branch?: string | null;
        };
        ResourceSpec: {
            min_scale?: number | null;
            max_scale?: number | null;
            cpu?: number | null;
            cpu_limit?: number | null;
            memory_mb?: number | null;
            memory_limit_mb?: number | null;
            queue_min_scale?: number | null;
            queue_max_scale?: number | null;
            queue_cpu?: number | null;
            queue_cpu_limit?: number | null;
            queue_memory_mb?: number | null;
            queue_memory_limit_mb?: number | null;
            redis_cpu?: number | null;
            redis_cpu_limit?: number | null;
            redis_memory_mb?: number | null;
            redis_memory_limit_mb?: number | null;
            db_cpu?: number | null;
            db_cpu_limit?: number | null;
            db_memory_mb?: number | null;
            db_memory_limit_mb?: number | null;
            db_storage_gi?: number | null;
            db_max_connections?: number | null;
            image_pull_secrets?: ({
                name: string;
            } & {
                [key: string]: unknown;
            })[] | null;
        } & {
            [key: string]: unknown;
        };
        SourceRevisionConfig: {
            repo_ref?: string | null;
            langgraph_config_path?: string | null;
            graph_config_path?: string | null;
            image_uri?: string | null;
            source_tarball_path?: string | null;
            repo_commit_sha?: string | null;
        };
        Revision: {
            id: string;
            created_at: string;
            updated_at: string;
            /** @enum {string} */
            status: "CREATING" | "QUEUED" | "AWAITING_BUILD" | "BUILDING" | "AWAITING_DEPLOY" | "DEPLOYING" | "CREATE_FAILED" | "BUILD_FAILED" | "DEPLOY_FAILED" | "DEPLOYED" | "SKIPPED" | "INTERRUPTED" | "UNKNOWN";
            status_message: string | null;
            /** @enum {string} */
            source: "github" | "external_docker" | "internal_docker" | "internal_source" | "internal_template";
            source_revision_config: components["schemas"]["SourceRevisionConfigOut"];
        };
        LogEntry: {
            id: string;
            /** @description Milliseconds since 1970 */
            timestamp: number;
            level: string;
            message: string;
            revision_id: string;
        };
        GithubIntegration: {
            id: string;
            installation_id: number;
            name: string;
        };
        GithubRepository: {
            host_integration_id: string;
            id: number;
            name: string;
            owner: string;
            url: string;
            default_branch: string;
        };
        GitIntegration: {
            id: string;
            installation_id: number;
            name: string;
            /** @enum {string} */
            kind: "github" | "gitlab" | "gitea" | "other";
            url: string;
            api_url: string | null;
            username: string;
            has_token: boolean;
            /** @description URL for the host's push webhooks */
            webhook_url: string;
            created_at: string;
            updated_at: string;
        };
        NewGitIntegration: {
            id: string;
            installation_id: number;
            name: string;
            /** @enum {string} */
            kind: "github" | "gitlab" | "gitea" | "other";
            url: string;
            api_url: string | null;
            username: string;
            has_token: boolean;
            /** @description URL for the host's push webhooks */
            webhook_url: string;
            created_at: string;
            updated_at: string;
            webhook_secret: string;
        };
        Listener: {
            id: string;
            version: string | null;
            compute_type: string;
            compute_id: string;
            compute_config: {
                k8s_namespaces: string[] | null;
            };
            created_at: string;
            updated_at: string;
        };
    };
    responses: {
        /** @description No valid API key or session */
        Error401Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The API key or session lacks the permission */
        Error403Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is well-formed but invalid */
        Error422Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: {
                        loc: (string | number)[];
                        msg: string;
                        type: string;
                    }[];
                };
            };
        };
        /** @description The request line and headers exceed the size limit */
        Error431Validation: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The server or one of its dependencies is not ready; Retry-After gives the time to wait */
        Error503Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is malformed or incomplete */
        Error400Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The body exceeds the size limit */
        Error413Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The resource does not exist */
        Error404Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description Conflict with an existing resource or a running operation */
        Error409Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description An upstream service failed */
        Error502Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description Unsupported content type or encoding */
        Error415Validation: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description No valid API key or session */
        Error401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The API key or session lacks the permission */
        Error403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request line and headers exceed the size limit */
        Error431: {
            headers: {
                [name: string]: unknown;
            };
            content?: never;
        };
        /** @description The server or one of its dependencies is not ready; Retry-After gives the time to wait */
        Error503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is malformed or incomplete */
        Error400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The body exceeds the size limit */
        Error413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The request is well-formed but invalid */
        Error422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
        /** @description The resource does not exist */
        Error404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": {
                    detail: string;
                };
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    get_v2_deployments: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                name?: string;
                name_contains?: string;
                status?: "AWAITING_DATABASE" | "READY" | "UNUSED" | "AWAITING_DELETE" | "UNKNOWN";
                deployment_ids?: string;
                deployment_type?: string;
                image_version?: string;
                remote_reconciled?: "0" | "1" | "true" | "false" | "True" | "False";
                tag_value_ids?: unknown;
                agent_id?: unknown;
                agent_environment?: unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resources: components["schemas"]["Deployment"][];
                        offset: number;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name: string;
                    /** @enum {string} */
                    source: "github" | "external_docker" | "internal_docker" | "internal_source" | "internal_template";
                    source_config: components["schemas"]["SourceConfig"];
                    source_revision_config: components["schemas"]["SourceRevisionConfig"];
                    secrets: {
                        name: string;
                        value: string;
                    }[];
                    secret_references?: {
                        name: string;
                        secret_name: string;
                        secret_key: string;
                    }[] | null;
                };
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    delete_v2_deployments: {
        parameters: {
            query: {
                deployment_ids: string | string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted: string[];
                        failed: {
                            id: string;
                            detail: string;
                        }[];
                    };
                };
            };
            /** @description Success */
            207: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deleted: string[];
                        failed: {
                            id: string;
                            detail: string;
                        }[];
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_free_count: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        count: number;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    delete_v2_deployments_deployment_id: {
        parameters: {
            query?: {
                delete_tracing_project?: "0" | "1" | "true" | "false" | "True" | "False";
                force?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    patch_v2_deployments_deployment_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    revision_source?: ("github" | "internal_docker" | "internal_source") | null;
                    source_config?: components["schemas"]["SourceConfig"] | null;
                    source_revision_config?: components["schemas"]["SourceRevisionConfig"] | null;
                    secrets?: {
                        name: string;
                        value: string;
                    }[] | null;
                    /** @description Removes all secrets when no secrets are given; without it, an empty list of secrets keeps them */
                    clear_secrets?: boolean | null;
                    secret_references?: {
                        name: string;
                        secret_name: string;
                        secret_key: string;
                    }[] | null;
                    display_name?: string | null;
                    name?: string | null;
                    source?: ("github" | "external_docker" | "internal_docker" | "internal_source" | "internal_template") | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments_deployment_id_push_token: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        token: string;
                        registry_url: string;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id_revisions: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
                status?: string;
                remote_reconciled?: "0" | "1" | "true" | "false" | "True" | "False";
            };
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resources: components["schemas"]["Revision"][];
                        offset: number;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments_deployment_id_revisions: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    revision_source?: ("github" | "internal_docker" | "internal_source") | null;
                    source_config?: components["schemas"]["SourceConfig"] | null;
                    source_revision_config?: components["schemas"]["SourceRevisionConfig"] | null;
                    secrets?: {
                        name: string;
                        value: string;
                    }[] | null;
                    /** @description Removes all secrets when no secrets are given; without it, an empty list of secrets keeps them */
                    clear_secrets?: boolean | null;
                    secret_references?: {
                        name: string;
                        secret_name: string;
                        secret_key: string;
                    }[] | null;
                };
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revision"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id_revisions_revision_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revision"];
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments_deployment_id_revisions_revision_id_redeploy: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Deployment"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments_deployment_id_revisions_revision_id_interruption: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Revision"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_deployments_deployment_id_upload_url: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        upload_url: string;
                        object_path: string;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    put_uploads_tarballs_tenant_id_deployment_id_file: {
        parameters: {
            query: {
                exp: string;
                max?: string;
                sig: string;
            };
            header?: never;
            path: {
                tenant_id: string;
                deployment_id: string;
                file: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/gzip": unknown;
            };
        };
        responses: {
            /** @description Done; no content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["Error400Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            409: components["responses"]["Error409Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v1_projects_deployment_id_revisions_revision_id_build_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    order?: ("asc" | "desc") | null;
                    limit?: number | null;
                    offset?: (string | number) | null;
                    level?: string | null;
                    query?: string | null;
                    start_time?: (string | number) | null;
                    end_time?: (string | number) | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v1_projects_deployment_id_revisions_revision_id_deploy_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    order?: ("asc" | "desc") | null;
                    limit?: number | null;
                    offset?: (string | number) | null;
                    level?: string | null;
                    query?: string | null;
                    start_time?: (string | number) | null;
                    end_time?: (string | number) | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v1_projects_deployment_id_deploy_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    order?: ("asc" | "desc") | null;
                    limit?: number | null;
                    offset?: (string | number) | null;
                    level?: string | null;
                    query?: string | null;
                    start_time?: (string | number) | null;
                    end_time?: (string | number) | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v1_projects_deployment_id_build_logs: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    order?: ("asc" | "desc") | null;
                    limit?: number | null;
                    offset?: (string | number) | null;
                    level?: string | null;
                    query?: string | null;
                    start_time?: (string | number) | null;
                    end_time?: (string | number) | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id_revisions_revision_id_logs: {
        parameters: {
            query: {
                start_time?: string;
                end_time?: string;
                query?: string;
                level?: string;
                run_id?: string;
                type: "build" | "deploy";
                order?: "asc" | "desc";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                deployment_id: string;
                revision_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id_logs: {
        parameters: {
            query?: {
                start_time?: string;
                end_time?: string;
                query?: string;
                level?: string;
                run_id?: string;
                type?: "build" | "deploy";
                order?: "asc" | "desc";
                limit?: string;
                offset?: string;
            };
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        logs: components["schemas"]["LogEntry"][];
                        next_offset: string | null;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployment_logs: {
        parameters: {
            query: {
                start_time?: string;
                end_time?: string;
                query?: string;
                level?: string;
                run_id?: string;
                deployment_id: string;
                revision_id?: string;
                log_type?: "DEPLOY" | "BUILD";
                sort_order?: "asc" | "desc";
                page_size?: string;
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        items: components["schemas"]["LogEntry"][];
                        next_cursor: string | null;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_deployments_deployment_id_instances: {
        parameters: {
            query?: {
                limit?: string;
            };
            header?: never;
            path: {
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resources: {
                            id: string;
                            revision_id: string;
                            replica: number;
                            /** @enum {string} */
                            state: "starting" | "ready" | "draining" | "ended";
                            started_at: string;
                            ready_at: string | null;
                            ended_at: string | null;
                            end_reason: string | null;
                            memory_bytes: number | null;
                            /** @description Percent of one core, since the previous request */
                            cpu_percent: number | null;
                        }[];
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v1_integrations_github_install: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GithubIntegration"][];
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v1_integrations_github_integration_id_repos: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GithubRepository"][];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            502: components["responses"]["Error502Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_integrations_github_installation_link: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        install_url: string;
                        oauth_reuse_url: string | null;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_integrations_git: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resources: components["schemas"]["GitIntegration"][];
                        offset: number;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_integrations_git: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name: string;
                    /**
                     * @default github
                     * @enum {string}
                     */
                    kind?: "github" | "gitlab" | "gitea" | "other";
                    /** @description The token is sent to repositories under this URL: https://git.example, https://git.example/team */
                    url?: string;
                    /** @description URL of the host's API, if it is not the usual one */
                    api_url?: string | null;
                    /** @description User name that the host expects with the token; most hosts ignore it */
                    username?: string;
                    token?: string | null;
                    webhook_secret?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NewGitIntegration"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            409: components["responses"]["Error409Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_integrations_git_integration_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GitIntegration"];
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    delete_v2_integrations_git_integration_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            409: components["responses"]["Error409Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    patch_v2_integrations_git_integration_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    name?: string | null;
                    api_url?: string | null;
                    username?: string | null;
                    token?: string | null;
                    webhook_secret?: string | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GitIntegration"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            409: components["responses"]["Error409Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_webhooks_github_integration_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deployments: number;
                    };
                };
            };
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deployments: number;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            415: components["responses"]["Error415Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_webhooks_gitlab_integration_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                integration_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deployments: number;
                    };
                };
            };
            /** @description Success */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        deployments: number;
                    };
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            415: components["responses"]["Error415Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_listeners: {
        parameters: {
            query?: {
                limit?: string;
                offset?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        resources: components["schemas"]["Listener"][];
                        offset: number;
                    };
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    post_v2_listeners: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    version?: string | null;
                    /** @constant */
                    compute_type: "k8s";
                    compute_id: string;
                    compute_config: {
                        k8s_namespaces?: string[] | null;
                    };
                };
            };
        };
        responses: {
            /** @description Success */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listener"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            409: components["responses"]["Error409Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_v2_listeners_listener_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                listener_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listener"];
                };
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    delete_v2_listeners_listener_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                listener_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    patch_v2_listeners_listener_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                listener_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    version?: string | null;
                    compute_config?: {
                        k8s_namespaces?: string[] | null;
                    } | null;
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listener"];
                };
            };
            400: components["responses"]["Error400Validation"];
            401: components["responses"]["Error401Validation"];
            403: components["responses"]["Error403Validation"];
            404: components["responses"]["Error404Validation"];
            413: components["responses"]["Error413Validation"];
            422: components["responses"]["Error422Validation"];
            431: components["responses"]["Error431Validation"];
            503: components["responses"]["Error503Validation"];
        };
    };
    get_internal_auth_self: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** Format: uuid */
                        organization_id: string;
                        /** Format: uuid */
                        workspace_id: string;
                        /** @enum {string} */
                        plan: "developer" | "plus" | "enterprise";
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    post_internal_auth_keys: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    keys: string[];
                };
            };
        };
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        verdicts: ({
                            /** @enum {string} */
                            status: "unknown" | "revoked" | "elsewhere";
                        } | {
                            /** @constant */
                            status: "known";
                            expires_at: string | null;
                            principal: {
                                actor: {
                                    /** @enum {string} */
                                    kind: "api_key" | "service_key";
                                    id: string;
                                    name: string;
                                    user_id: string | null;
                                };
                                /** Format: uuid */
                                organization_id: string;
                                /** Format: uuid */
                                workspace_id: string;
                                /** @enum {string} */
                                plan: "developer" | "plus" | "enterprise";
                                permissions: ("assistants:read" | "assistants:write" | "threads:read" | "threads:write" | "runs:read" | "runs:create" | "runs:delete" | "runs:share" | "store:read" | "store:write" | "crons:read" | "crons:write" | "projects:read" | "projects:create" | "projects:update" | "projects:delete" | "feedback:read" | "feedback:create" | "feedback:update" | "feedback:delete" | "datasets:read" | "datasets:create" | "datasets:update" | "datasets:delete" | "bulk-exports:read" | "bulk-exports:manage" | "deployments:read" | "deployments:create" | "deployments:update" | "deployments:delete" | "workspaces:read" | "workspaces:manage" | "audit:read" | "organization:pats:create" | "organization:read" | "organization:manage")[];
                            };
                        })[];
                    };
                };
            };
            400: components["responses"]["Error400"];
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            413: components["responses"]["Error413"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_internal_auth_changes: {
        parameters: {
            query?: {
                version?: string;
                wait?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                    };
                };
            };
            401: components["responses"]["Error401"];
            403: components["responses"]["Error403"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_ok: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                    };
                };
            };
            431: components["responses"]["Error431"];
            /** @description Success */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: false;
                        detail: string;
                        checks?: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
        };
    };
    get_ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: true;
                        checks: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
            431: components["responses"]["Error431"];
            /** @description Success */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @constant */
                        ok: false;
                        detail: string;
                        checks?: {
                            [key: string]: {
                                ok: boolean;
                                reason?: string;
                            } & {
                                [key: string]: unknown;
                            };
                        };
                    };
                };
            };
        };
    };
    get_info: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        version: string;
                        installation: string;
                        sources: string[];
                        /** @description How deployments that run as processes are isolated; null if they run in containers */
                        process_isolation: ("bubblewrap" | "user" | "none") | null;
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_o_tenant_id_host_deployments_deployment_id: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                tenant_id: string;
                deployment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no content */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            404: components["responses"]["Error404"];
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_openapi_json: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        openapi: string;
                    } & {
                        [key: string]: unknown;
                    };
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_docs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_metrics: {
        parameters: {
            query?: {
                format?: "prometheus" | "json";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                    "application/json": ({
                        name: string;
                    } & {
                        [key: string]: unknown;
                    })[];
                };
            };
            422: components["responses"]["Error422"];
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
    get_: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        name: string;
                        version: string;
                        docs: string;
                        openapi: string;
                    };
                };
            };
            /** @description Done; no content */
            302: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            431: components["responses"]["Error431"];
            503: components["responses"]["Error503"];
        };
    };
}
